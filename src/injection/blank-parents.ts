/** Notes which parents of a change were there but empty, so that taking it back can tell `{}` from nothing. */
import { containersByName } from "../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import type { Edit } from "./edit.ts";
import type { Blank, OriginalRecord } from "./original-record.ts";

/** By the names of `OriginalRecord.blank`. A grace period that is remembered was not blank, whatever stands there now. */
export function blankParents(
  pod: RawObject,
  edits: readonly Edit[],
  grace: OriginalRecord["grace"],
): OriginalRecord["blank"] {
  const containers = containersByName(pod);
  const noted = grace === null ? edits : edits.filter(({ kind }) => kind !== "set-grace");
  return Object.fromEntries(noted.flatMap((edit) => blanksOf(pod, containers, edit)));
}

function blanksOf(
  pod: RawObject,
  containers: ReadonlyMap<unknown, RawObject>,
  edit: Edit,
): readonly (readonly [string, Blank])[] {
  const spec = objectAt(pod, "spec");
  switch (edit.kind) {
    case "add-manager":
      return blankAt(edit.list, spec, edit.list);
    case "set-grace":
      return blankAt("grace", spec, "terminationGracePeriodSeconds");
    case "set-pre-stop":
      return blankAt(`lifecycle/${edit.container}`, containers.get(edit.container), "lifecycle");
    case "set-probe-grace": {
      const probe = objectAt(containers.get(edit.container), edit.probe);
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
