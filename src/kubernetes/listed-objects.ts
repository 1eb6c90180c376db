/** Finds the objects of a document: the document itself, or the items of a List. */
import { isRawObject, type RawObject, textAt, valueAt } from "./raw-json.ts";

/** Keys and list positions from a root. */
export type Path = readonly (string | number)[];

export type ListedObject = {
  /** Path from the document's root; empty unless the object is an item of a List. */
  readonly objectPath: Path;
  readonly object: RawObject;
  readonly kind: string;
  readonly apiVersion: string;
};

/** Lists may be nested. Objects below this depth are ignored. */
const LIST_DEPTH_LIMIT = 8;

export function objectsIn(document: unknown): readonly ListedObject[] {
  return objectsBelow(document, { objectPath: [], depth: LIST_DEPTH_LIMIT, itemTypeMeta: {} });
}

type Position = { readonly objectPath: Path; readonly depth: number; readonly itemTypeMeta: RawObject };

function objectsBelow(document: unknown, { objectPath, depth, itemTypeMeta }: Position): readonly ListedObject[] {
  if (!isRawObject(document) || depth === 0) return [];
  const kind = textAt(document, "kind") ?? textAt(itemTypeMeta, "kind") ?? "";
  const apiVersion = textAt(document, "apiVersion") ?? textAt(itemTypeMeta, "apiVersion") ?? "";
  const items = valueAt(document, "items");
  if (!kind.endsWith("List") || !Array.isArray(items)) return [{ objectPath, object: document, kind, apiVersion }];
  // Items of a typed list (PodList) may omit their kind.
  const typeMeta = kind === "List" ? {} : { kind: kind.slice(0, -"List".length), apiVersion };
  return items.flatMap((item: unknown, index) =>
    objectsBelow(item, { objectPath: [...objectPath, "items", index], depth: depth - 1, itemTypeMeta: typeMeta }),
  );
}

/** Returns an empty group for the core API. Maps the removed group `extensions`, which many repositories still use, to `apps`. */
export function groupOf(apiVersion: string): string {
  const slashIndex = apiVersion.indexOf("/");
  const group = slashIndex < 0 ? "" : apiVersion.slice(0, slashIndex);
  return group === "extensions" ? "apps" : group;
}

export function pathText(path: Path): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}
