/** Two Pods to a JSON Patch. The only place that knows the patch library. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { objectAt, type RawObject, sameJson, valueAt } from "../kubernetes/raw-json.ts";

/**
 * The operations that make `after` of `before`, which is the object as received. Parts that are the same object in
 * both are never looked into.
 */
export function diffPods(before: RawObject, after: RawObject): readonly Operation[] {
  const inserted = insertedFirst(before, after);
  const found: Operation[] = [];
  if (inserted === undefined) {
    collect(before, after, "", found);
    return found;
  }
  // Lists are compared by position: one container in front would rewrite all that follow it.
  const spec = objectAt(before, "spec");
  const list = [inserted, ...listOf(spec)];
  found.push({ op: "add", path: "/spec/initContainers/0", value: inserted });
  collect({ ...before, spec: { ...spec, initContainers: list } }, after, "", found);
  return found;
}

type Branch = RawObject | readonly unknown[];

/**
 * The way down to what changed, in the library's own order. The library would copy every value it adds through its
 * JSON text, which was most of what a diff cost; ours are made once and never changed.
 */
function collect(before: Branch, after: Branch, at: string, found: Operation[]): void {
  if (Array.isArray(before) && before.length !== (after as readonly unknown[]).length) {
    for (const each of jsonPatch.compare([...before], [...(after as readonly unknown[])]))
      found.push({ ...each, path: at + each.path });
    return;
  }
  const [old, now] = [before as RawObject, after as RawObject];
  for (const key of Object.keys(old).reverse()) {
    const [was, is] = [old[key], now[key]];
    if (!Object.hasOwn(now, key)) found.push({ op: "remove", path: pathTo(at, key) });
    else if (was === is) continue;
    else if (isBranch(was) && isBranch(is) && Array.isArray(was) === Array.isArray(is))
      collect(was, is, pathTo(at, key), found);
    else found.push({ op: "replace", path: pathTo(at, key), value: is });
  }
  for (const key of Object.keys(now)) {
    if (!Object.hasOwn(old, key)) found.push({ op: "add", path: pathTo(at, key), value: now[key] });
  }
}

function isBranch(value: unknown): value is Branch {
  return typeof value === "object" && value !== null;
}

function pathTo(at: string, key: string): string {
  return `${at}/${jsonPatch.escapePathComponent(key)}`;
}

/** The container that is new at the front of a list that had others already. */
function insertedFirst(before: RawObject, after: RawObject): unknown {
  const old = listOf(objectAt(before, "spec"));
  const now = listOf(objectAt(after, "spec"));
  if (old.length === 0 || now.length !== old.length + 1) return undefined;
  return sameJson(nameIn(now[1]), nameIn(old[0])) ? now[0] : undefined;
}

function listOf(spec: RawObject | undefined): readonly unknown[] {
  const list = valueAt(spec, "initContainers");
  return Array.isArray(list) ? list : [];
}

function nameIn(container: unknown): unknown {
  return typeof container === "object" && container !== null ? valueAt(container as RawObject, "name") : container;
}
