/** Applies a JSON patch strictly by RFC 6902, independently of the source. Any irregularity is an error. */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Written = { readonly op: string; readonly path: string; readonly from?: string; readonly value?: unknown };

/** Returns a new document; the input is not changed. */
export function patched(document: unknown, patch: readonly Written[]): unknown {
  let whole = structuredClone(document) as Json;
  for (const operation of patch) whole = step(whole, operation);
  return whole;
}

function step(whole: Json, operation: Written): Json {
  const path = tokensOf(operation.path);
  switch (operation.op) {
    case "add":
      return add(whole, path, valueIn(operation));
    case "remove":
      return remove(whole, path);
    case "replace":
      valueAt(whole, path);
      return path.length === 0 ? valueIn(operation) : add(remove(whole, path), path, valueIn(operation));
    case "copy":
      return add(whole, path, structuredClone(valueAt(whole, tokensOf(operation.from ?? "no"))));
    case "move": {
      const from = tokensOf(operation.from ?? "no");
      if (from.length < path.length && from.every((token, at) => token === path[at]))
        throw new Error("moved into itself");
      const value = valueAt(whole, from);
      return add(remove(whole, from), path, value);
    }
    case "test":
      if (JSON.stringify(valueAt(whole, path)) !== JSON.stringify(operation.value)) throw new Error("the test failed");
      return whole;
    default:
      throw new Error(`there is no operation ${operation.op}`);
  }
}

function valueIn(operation: Written): Json {
  if (!Object.hasOwn(operation, "value") || operation.value === undefined) throw new Error("the value is missing");
  return structuredClone(operation.value) as Json;
}

/** RFC 6901: `~1` is a slash, `~0` a tilde, read in this order. */
function tokensOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) throw new Error(`${pointer} is no pointer`);
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(whole: Json, path: readonly string[]): Json {
  return path.reduce(childOf, whole);
}

function childOf(parent: Json, token: string): Json {
  if (Array.isArray(parent)) return parent[indexIn(parent, token, parent.length - 1)] ?? null;
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, token)) throw new Error(`no ${token}`);
  return parent[token] ?? null;
}

function indexIn(list: readonly Json[], token: string, last: number): number {
  if (!/^(0|[1-9][0-9]*)$/.test(token) || Number(token) > last) throw new Error(`no place ${token} of ${list.length}`);
  return Number(token);
}

function add(whole: Json, path: readonly string[], value: Json): Json {
  const [parent, last] = parentOf(whole, path);
  if (last === undefined) return value;
  if (Array.isArray(parent))
    parent.splice(last === "-" ? parent.length : indexIn(parent, last, parent.length), 0, value);
  else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
  return whole;
}

function remove(whole: Json, path: readonly string[]): Json {
  const [parent, last] = parentOf(whole, path);
  if (last === undefined) throw new Error("the whole document cannot be removed");
  childOf(parent, last);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return whole;
}

type Parent = Json[] | { [key: string]: Json };

function parentOf(whole: Json, path: readonly string[]): readonly [Parent, string | undefined] {
  const parent = path.slice(0, -1).reduce(childOf, whole);
  if (path.length > 0 && (typeof parent !== "object" || parent === null)) throw new Error("nothing can be put there");
  return [parent as Parent, path.at(-1)];
}
