/** Reads a folder of manifests and recorded admission reviews. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Document, parseAllDocuments } from "yaml";
import { isRawObject, objectAt, type RawObject } from "../../src/kubernetes/raw-json.ts";

export const OUR_MANIFESTS = join(import.meta.dirname, "../fixtures/manifests");
export const OUR_REVIEWS = join(import.meta.dirname, "../fixtures/reviews");

export type TextFile = { readonly name: string; readonly text: string };

export function filesIn(folder: string): readonly TextFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ya?ml|json|injected)$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
}

/** Uses the parser of the npm package yaml directly, independently of the program. */
export function documentsOf(text: string): readonly unknown[] {
  const documents: readonly Document[] = parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent" });
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) throw error;
  return documents.map((document) => document.toJS({ maxAliasCount: 1_000 }));
}

export function isReadable({ text }: TextFile): boolean {
  try {
    return documentsOf(text).length > 0;
  } catch {
    return false;
  }
}

/** The request of a recorded review; some recordings contain only the request. */
export function requestIn({ text }: TextFile): RawObject | undefined {
  const [review] = documentsOf(text);
  if (!isRawObject(review)) return undefined;
  const request = objectAt(review, "request") ?? review;
  return objectAt(request, "object") === undefined ? undefined : request;
}
