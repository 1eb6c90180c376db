/** Notes which parents of a change were there but empty, so that taking it back can tell `{}` from nothing. */
import { containerNamed } from "../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import type { Edit } from "./edit.ts";
import type { Blank } from "./original-record.ts";

/** By the names of `OriginalRecord.blank`. */
export function blankParents(pod: RawObject, edits: readonly Edit[]): Readonly<Record<string, Blank>> {
  const blanks = edits.flatMap((edit) => blanksOf(pod, edit));
  return Object.fromEntries(blanks);
}

function blanksOf(pod: RawObject, edit: Edit): readonly (readonly [string, Blank])[] {
  const spec = objectAt(pod, "spec");
  switch (edit.kind) {
    case "add-manager":
      return blankAt(edit.list, spec, edit.list);
    case "set-grace":
      return blankAt("grace", spec, "terminationGracePeriodSeconds");
    case "set-pre-stop":
      return blankAt(`lifecycle/${edit.container}`, containerNamed(pod, edit.container), "lifecycle");
    case "set-probe-grace": {
      const probe = objectAt(containerNamed(pod, edit.container), edit.probe);
      return blankAt(probeEntry(edit), probe, "terminationGracePeriodSeconds");
    }
    case "annotate": {
      const metadata = objectAt(pod, "metadata");
      return [...blankAt("metadata", pod, "metadata"), ...blankAt("annotations", metadata, "annotations")];
    }
  }
}

/** `app/liveness`: how the record names a probe. */
export function probeEntry(edit: Extract<Edit, { kind: "set-probe-grace" }>): string {
  return `${edit.container}/${edit.probe === "livenessProbe" ? "liveness" : "startup"}`;
}

function blankAt(name: string, parent: RawObject | undefined, key: string): readonly (readonly [string, Blank])[] {
  if (parent === undefined || !Object.hasOwn(parent, key)) return [];
  const value = parent[key];
  if (value === null) return [[name, null]];
  if (Array.isArray(value)) return value.length === 0 ? [[name, []]] : [];
  return isRawObject(value) && Object.keys(value).length === 0 ? [[name, {}]] : [];
}
