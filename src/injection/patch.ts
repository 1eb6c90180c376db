/** Two Pods to a JSON Patch. The only place that knows the patch library. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { objectAt, type RawObject, sameJson, valueAt } from "../kubernetes/raw-json.ts";

/**
 * The operations that make `after` of `before`, which is the object as received. Parts that are the same object in
 * both are never looked into.
 */
export function diffPods(before: RawObject, after: RawObject): readonly Operation[] {
  const alone = listOf(objectAt(after, "spec"));
  const had = objectAt(before, "spec");
  if (had !== undefined && alone.length > 0 && !Object.hasOwn(had, "initContainers")) {
    // The library would copy the new list through its JSON text, which is most of what a diff costs.
    const staged = { ...before, spec: { ...had, initContainers: alone } };
    return [{ op: "add", path: "/spec/initContainers", value: alone }, ...jsonPatch.compare(staged, after)];
  }
  const inserted = insertedFirst(before, after);
  if (inserted === undefined) return jsonPatch.compare(before, after);
  // The library compares lists by position: one container in front would rewrite all that follow it.
  const spec = objectAt(before, "spec");
  const list = [inserted, ...listOf(spec)];
  const staged = { ...before, spec: { ...spec, initContainers: list } };
  return [{ op: "add", path: "/spec/initContainers/0", value: inserted }, ...jsonPatch.compare(staged, after)];
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
