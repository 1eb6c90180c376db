/** Reads the manifests of the guides, and the Pods that a cluster creates from them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { podsIn } from "../../src/kubernetes/pod-template.ts";
import { isRawObject, type RawObject } from "../../src/kubernetes/raw-json.ts";

const ROOT = join(import.meta.dirname, "../..");

export type Guide = { readonly name: string; readonly text: string; readonly manifest: string };

function namesIn(folder: string, extension: string): readonly string[] {
  return readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(extension))
    .map((file) => file.slice(0, -extension.length))
    .sort();
}

export const EXAMPLES = namesIn("examples", ".yaml");
export const GUIDE_NAMES = namesIn("docs/guides", ".md");

export function readGuide(name: string): Guide {
  return {
    name,
    text: readFileSync(join(ROOT, "docs/guides", `${name}.md`), "utf8"),
    manifest: readFileSync(join(ROOT, "examples", `${name}.yaml`), "utf8"),
  };
}

/** Path of the guide's picture of a drain. */
export function picturePath(name: string): string {
  return join(ROOT, "docs/guides", `${name}.svg`);
}

/** Returns the code blocks of one language. */
export function codeBlocksOf(guide: Guide, language: string): readonly string[] {
  return [...guide.text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    (match) => match[1] ?? "",
  );
}

export function documentsOf(manifest: string): readonly RawObject[] {
  return parseAllDocuments(manifest).map((document) => {
    const value: unknown = document.toJS();
    if (document.errors.length > 0 || !isRawObject(value)) throw new Error(`not a manifest: ${manifest.slice(0, 80)}`);
    return value;
  });
}

export type ExamplePod = { readonly owner: string; readonly namespace: string; readonly pod: RawObject };

export function podsOf(manifest: string): readonly ExamplePod[] {
  return documentsOf(manifest).flatMap((document) =>
    podsIn(document).map(({ owner, namespace, pod }) => ({ owner, namespace, pod })),
  );
}
