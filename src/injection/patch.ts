/** Computes the JSON Patch between two Pods. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { isRawObject, isSameJson, objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";

/**
 * Returns the operations that change `before`, the received object, to `after`. Identical references are skipped without a
 * comparison of their content.
 */
export function diffPods(before: RawObject, after: RawObject): readonly Operation[] {
  const inserted = findInsertedContainer(before, after);
  const operations: Operation[] = [];
  if (inserted === undefined) {
    collectObject(before, after, "", operations);
    return operations;
  }
  // The inserted container gets its own operation: a comparison of lists by position would rewrite all containers after it.
  const spec = objectAt(before, "spec");
  const list = [inserted, ...listOf(spec)];
  operations.push({ op: "add", path: "/spec/initContainers/0", value: inserted });
  collectObject({ ...before, spec: { ...spec, initContainers: list } }, after, "", operations);
  return operations;
}

/**
 * Compares recursively, in the order of fast-json-patch. That library copies each added value through JSON, which took most of
 * the time of a comparison. The values of Pods are immutable here, so copies are not necessary.
 */
function collectObject(before: RawObject, after: RawObject, pointer: string, operations: Operation[]): void {
  const keys = Object.keys(before);
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? "";
    // Compares identity first, because nearly all values are identical and `hasOwn` is slower.
    if (before[key] === after[key]) continue;
    if (!Object.hasOwn(after, key)) operations.push({ op: "remove", path: pathTo(pointer, key) });
    else collectValue(before[key], after[key], pathTo(pointer, key), operations);
  }
  for (const key in after) {
    if (before[key] === after[key] || Object.hasOwn(before, key)) continue;
    operations.push({ op: "add", path: pathTo(pointer, key), value: after[key] });
  }
}

function collectValue(before: unknown, after: unknown, pointer: string, operations: Operation[]): void {
  if (isRawObject(before) && isRawObject(after)) collectObject(before, after, pointer, operations);
  else if (Array.isArray(before) && Array.isArray(after)) collectList(before, after, pointer, operations);
  else operations.push({ op: "replace", path: pointer, value: after });
}

/** Compares entries by position; surplus entries of one list are added or removed. */
function collectList(
  before: readonly unknown[],
  after: readonly unknown[],
  pointer: string,
  operations: Operation[],
): void {
  for (let index = before.length - 1; index >= 0; index -= 1) {
    if (index >= after.length) operations.push({ op: "remove", path: `${pointer}/${index}` });
    else if (before[index] !== after[index])
      collectValue(before[index], after[index], `${pointer}/${index}`, operations);
  }
  for (let index = before.length; index < after.length; index += 1) {
    operations.push({ op: "add", path: `${pointer}/${index}`, value: after[index] });
  }
}

function pathTo(pointer: string, key: string): string {
  return `${pointer}/${jsonPatch.escapePathComponent(key)}`;
}

/** Returns the container that was inserted in front of the existing init containers. */
function findInsertedContainer(before: RawObject, after: RawObject): unknown {
  const beforeList = listOf(objectAt(before, "spec"));
  const afterList = listOf(objectAt(after, "spec"));
  if (beforeList.length === 0 || afterList.length !== beforeList.length + 1) return undefined;
  return isSameJson(nameIn(afterList[1]), nameIn(beforeList[0])) ? afterList[0] : undefined;
}

function listOf(spec: RawObject | undefined): readonly unknown[] {
  const list = valueAt(spec, "initContainers");
  return Array.isArray(list) ? list : [];
}

function nameIn(container: unknown): unknown {
  return typeof container === "object" && container !== null ? valueAt(container as RawObject, "name") : container;
}
