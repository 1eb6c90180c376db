/** Opens and parses the manifests of `-f`. Collects the problems of all files. */
import { objectsIn } from "../kubernetes/listed-objects.ts";
import { type TemplatePath, templatesAt } from "../kubernetes/template-path.ts";
import { documentWarnings } from "./document-warnings.ts";
import { decodeManifest } from "./manifest/decode.ts";
import { type ManifestProblem, type ParsedManifest, parseManifest } from "./manifest/parse.ts";
import type { Ports } from "./ports.ts";
import type { CommandRequest } from "./request.ts";
import { printable } from "./terminal-text.ts";

export type OpenManifest = {
  readonly name: string;
  readonly text: string;
  readonly byteOrderMark: string;
  readonly parsed: ParsedManifest;
};

export type FileProblem = ManifestProblem & { readonly file: string };

export type OpenedManifests = {
  readonly manifests: readonly OpenManifest[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
};

export async function openManifests({ paths, templatePaths }: CommandRequest, ports: Ports): Promise<OpenedManifests> {
  const manifests: OpenManifest[] = [];
  const problems: FileProblem[] = [];
  for (const path of paths) {
    for (const source of await sourcesOf(path, ports)) {
      if ("message" in source) problems.push(fileProblem(source.name, source.message));
      else {
        const decoded = decodeManifest(source.bytes);
        if (decoded.ok)
          manifests.push({ name: source.name, ...decoded, parsed: parseManifest(decoded.text, templatePaths) });
        else problems.push(fileProblem(source.name, decoded.message));
      }
    }
  }
  for (const { name, parsed } of manifests)
    problems.push(...parsed.problems.map((problem) => ({ ...problem, file: name })));
  const warnings = manifests.flatMap(({ name, parsed }) =>
    parsed.documents.flatMap((document) =>
      [...document.warnings, ...documentWarnings(document, templatePaths)].map((problem) => ({
        ...problem,
        file: name,
      })),
    ),
  );
  return { manifests, problems, warnings: [...warnings, ...unusedPaths(templatePaths, manifests)] };
}

/** Warns about paths that match nothing, which are probably misspelt. */
function unusedPaths(knownPaths: readonly TemplatePath[], manifests: readonly OpenManifest[]): readonly FileProblem[] {
  const objects = manifests.flatMap(({ parsed }) => parsed.documents.flatMap(({ value }) => objectsIn(value)));
  return knownPaths
    .filter((path) => !objects.some((listed) => templatesAt(listed, path).length > 0))
    .map(({ text }) => fileProblem(`--template-path ${text}`, "no object of the input has a mapping at this path"));
}

export function sourceName(path: string): string {
  return path === "-" ? "standard input" : path;
}

type Source =
  | { readonly name: string; readonly bytes: Uint8Array }
  | { readonly name: string; readonly message: string };

async function sourcesOf(path: string, ports: Ports): Promise<readonly Source[]> {
  if (path === "-") return [{ name: sourceName(path), bytes: await ports.readStandardInput() }];
  try {
    const files = ports.listManifests(path);
    if (files.length === 0) return [{ name: path, message: "the folder contains no *.yaml, *.yml or *.json file" }];
    return files.map((file) => readSource(file, ports));
  } catch (cause) {
    return [{ name: path, message: systemMessage(cause) }];
  }
}

function readSource(name: string, ports: Ports): Source {
  try {
    return { name, bytes: ports.readFile(name) };
  } catch (cause) {
    return { name, message: systemMessage(cause) };
  }
}

function fileProblem(file: string, message: string): FileProblem {
  return { file, document: 0, place: undefined, message };
}

export function systemMessage(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ENOENT") return "no such file or directory";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
}

export function problemLine({ file, document, place, message }: FileProblem): string {
  const parts = [file];
  if (document > 0) parts.push(`document ${document}`);
  if (place !== undefined) parts.push(`line ${place.line}, column ${place.column}`);
  return printable(`${parts.join(", ")}: ${message}`);
}
