/** Two Pods to a JSON Patch. The only place that knows the patch library. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { isRawObject, objectAt, type RawObject, sameJson, valueAt } from "../kubernetes/raw-json.ts";

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

/**
 * The way down to what changed, in the library's own order. The library would copy every value it adds through its
 * JSON text, which was most of what a diff cost; ours are made once and never changed.
 */
function collect(before: RawObject, after: RawObject, at: string, found: Operation[]): void {
  const keys = Object.keys(before);
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? "";
    // Equal parts first: nearly every one is, and the look for an own key is the costlier question.
    if (before[key] === after[key]) continue;
    if (!Object.hasOwn(after, key)) found.push({ op: "remove", path: pathTo(at, key) });
    else collectPart(before[key], after[key], pathTo(at, key), found);
  }
  for (const key in after) {
    if (before[key] === after[key] || Object.hasOwn(before, key)) continue;
    found.push({ op: "add", path: pathTo(at, key), value: after[key] });
  }
}

function collectPart(before: unknown, after: unknown, at: string, found: Operation[]): void {
  if (isRawObject(before) && isRawObject(after)) collect(before, after, at, found);
  else if (Array.isArray(before) && Array.isArray(after)) collectList(before, after, at, found);
  else found.push({ op: "replace", path: at, value: after });
}

/** By position: what is beyond the other's end comes or goes there. */
function collectList(before: readonly unknown[], after: readonly unknown[], at: string, found: Operation[]): void {
  for (let index = before.length - 1; index >= 0; index -= 1) {
    if (index >= after.length) found.push({ op: "remove", path: `${at}/${index}` });
    else if (before[index] !== after[index]) collectPart(before[index], after[index], `${at}/${index}`, found);
  }
  for (let index = before.length; index < after.length; index += 1) {
    found.push({ op: "add", path: `${at}/${index}`, value: after[index] });
  }
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
