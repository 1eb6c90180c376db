/** Computes the JSON Patch between two Pods. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { isRawObject, objectAt, type RawObject, sameJson, valueAt } from "../kubernetes/raw-json.ts";

/**
 * Operations that turn `before`, the received object, into `after`. Identical objects are skipped without comparing their
 * content.
 */
export function diffPods(before: RawObject, after: RawObject): readonly Operation[] {
  const inserted = insertedFirst(before, after);
  const found: Operation[] = [];
  if (inserted === undefined) {
    collect(before, after, "", found);
    return found;
  }
  // Lists are compared by position, so a container inserted in front would rewrite all others.
  const spec = objectAt(before, "spec");
  const list = [inserted, ...listOf(spec)];
  found.push({ op: "add", path: "/spec/initContainers/0", value: inserted });
  collect({ ...before, spec: { ...spec, initContainers: list } }, after, "", found);
  return found;
}

/**
 * Compares recursively, in the order of fast-json-patch. That library copies each added value through JSON, which was most of
 * the cost; here values are immutable and need no copy.
 */
function collect(before: RawObject, after: RawObject, at: string, found: Operation[]): void {
  const keys = Object.keys(before);
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? "";
    // Identity first: nearly all parts are identical, and `hasOwn` costs more.
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

/** By position; entries beyond the end of the other list are added or removed. */
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

/** The container that was inserted in front of existing ones. */
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
