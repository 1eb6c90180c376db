/** Two Pods to a JSON Patch. The only place that knows the patch library. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { objectAt, type RawObject, sameJson, valueAt } from "../kubernetes/raw-json.ts";

/**
 * The operations that make `after` of `before`, which is the object as received. Parts that are the same object in
 * both are never looked into.
 */
export function diffPods(before: RawObject, after: RawObject): readonly Operation[] {
  const inserted = insertedFirst(before, after);
  if (inserted === undefined) return compareWithNewList(before, after);
  // The library compares lists by position: one container in front would rewrite all that follow it.
  const spec = objectAt(before, "spec");
  const list = [inserted, ...listOf(spec)];
  const staged = { ...before, spec: { ...spec, initContainers: list } };
  return [{ op: "add", path: "/spec/initContainers/0", value: inserted }, ...jsonPatch.compare(staged, after)];
}

/**
 * A list of init containers that is wholly new goes around the library, which would copy it through its JSON text:
 * that copy would be half of what a diff costs.
 */
function compareWithNewList(before: RawObject, after: RawObject): readonly Operation[] {
  const [old, now] = [objectAt(before, "spec"), objectAt(after, "spec")];
  const isNew = old !== undefined && !Object.hasOwn(old, "initContainers") && listOf(now).length > 0;
  if (!isNew) return jsonPatch.compare(before, after);
  const operations = jsonPatch.compare(before, { ...after, spec: { ...now, initContainers: [] } });
  const path = "/spec/initContainers";
  return operations.map((each) => (each.path === path ? { op: "add", path, value: listOf(now) } : each));
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
