/** The handlers ours stand in for, to be put back one day. */
import { containersOf, nameOf } from "../kubernetes/pod.ts";
import { objectAt, type RawObject } from "../kubernetes/raw-json.ts";

/** By container; null where `preStop: null` was written. Containers without the key are left out. */
export function replacedHandlers(pod: RawObject, containers: readonly string[]): Readonly<Record<string, unknown>> {
  const held = new Set(containers);
  const entries = containersOf(pod).flatMap((container) => {
    const lifecycle = objectAt(container, "lifecycle");
    if (lifecycle === undefined || !held.has(nameOf(container))) return [];
    return Object.hasOwn(lifecycle, "preStop") ? [[nameOf(container), lifecycle["preStop"]] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** What the annotations said before; null where there was none. */
export function replacedAnnotations(
  annotations: RawObject,
  keys: readonly string[],
): Readonly<Record<string, string | null>> {
  const entries = keys.map((key) => {
    const old = annotations[key];
    return [key, typeof old === "string" ? old : null] as const;
  });
  return Object.fromEntries(entries);
}
