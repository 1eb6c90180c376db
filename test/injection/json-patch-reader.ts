/** Applies a JSON patch strictly by RFC 6902, independently of the source. Throws for an invalid patch. */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type PatchOperation = {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
};

/** Returns a new document; the input is not changed. */
export function applyPatch(document: unknown, patch: readonly PatchOperation[]): unknown {
  let patched = structuredClone(document) as Json;
  for (const operation of patch) patched = applyOperation(patched, operation);
  return patched;
}

function applyOperation(document: Json, operation: PatchOperation): Json {
  const path = keysOf(operation.path);
  switch (operation.op) {
    case "add":
      return add(document, path, valueIn(operation));
    case "remove":
      return remove(document, path);
    case "replace":
      valueAt(document, path);
      return path.length === 0 ? valueIn(operation) : add(remove(document, path), path, valueIn(operation));
    case "copy":
      return add(document, path, structuredClone(valueAt(document, keysOf(operation.from ?? "no"))));
    case "move": {
      const from = keysOf(operation.from ?? "no");
      if (from.length < path.length && from.every((key, at) => key === path[at])) throw new Error("moved into itself");
      const value = valueAt(document, from);
      return add(remove(document, from), path, value);
    }
    case "test":
      if (JSON.stringify(valueAt(document, path)) !== JSON.stringify(operation.value))
        throw new Error("the test failed");
      return document;
    default:
      throw new Error(`there is no operation ${operation.op}`);
  }
}

function valueIn(operation: PatchOperation): Json {
  if (!Object.hasOwn(operation, "value") || operation.value === undefined) throw new Error("the value is missing");
  return structuredClone(operation.value) as Json;
}

/** By RFC 6901: `~1` is a slash and `~0` a tilde, replaced in this order. */
function keysOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) throw new Error(`${pointer} is no pointer`);
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(document: Json, path: readonly string[]): Json {
  return path.reduce(childOf, document);
}

function childOf(parent: Json, key: string): Json {
  if (Array.isArray(parent)) return parent[indexIn(parent, key, parent.length - 1)] ?? null;
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, key)) throw new Error(`no ${key}`);
  return parent[key] ?? null;
}

function indexIn(list: readonly Json[], key: string, last: number): number {
  if (!/^(0|[1-9][0-9]*)$/.test(key) || Number(key) > last) throw new Error(`no place ${key} of ${list.length}`);
  return Number(key);
}

function add(document: Json, path: readonly string[], value: Json): Json {
  const [parent, last] = parentOf(document, path);
  if (last === undefined) return value;
  if (Array.isArray(parent))
    parent.splice(last === "-" ? parent.length : indexIn(parent, last, parent.length), 0, value);
  else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
  return document;
}

function remove(document: Json, path: readonly string[]): Json {
  const [parent, last] = parentOf(document, path);
  if (last === undefined) throw new Error("the whole document cannot be removed");
  childOf(parent, last);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return document;
}

type Parent = Json[] | { [key: string]: Json };

function parentOf(document: Json, path: readonly string[]): readonly [Parent, string | undefined] {
  const parent = path.slice(0, -1).reduce(childOf, document);
  if (path.length > 0 && (typeof parent !== "object" || parent === null)) throw new Error("nothing can be put there");
  return [parent as Parent, path.at(-1)];
}
