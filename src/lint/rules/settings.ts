/** Finds labels and annotations of lastcall that have no effect. */
import {
  type PlacedProblem,
  type PodBearingObject,
  problemsOfPods,
  problemsOutsidePods,
} from "../../injection/opt-in/object-problems.ts";
import { ANY_RELEASE, optsInByAnnotation, selectionOf } from "../../injection/opt-in/selection.ts";
import type { LocatedPod } from "../../kubernetes/pod-template.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { INJECT } from "../../policy/fields.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { type LocatedObject, labelsIn, type ManifestSet, namespaceOf, podsOf } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const LASTCALL_SETTING: Rule = {
  id: "lastcall-setting",
  title: "A label or annotation of lastcall has no effect",
  why: "A misspelt name, an invalid value or a setting on the wrong object has no effect: the value falls back to the namespace, then the cluster, then the default, or the Pod is not injected.",
  remedy:
    "Correct the label or annotation; the reference lists every annotation. Pass --config to resolve profiles of the cluster configuration.",
  level: "error",
  check: (set) =>
    set.objects.flatMap((object) => [...settingsOutsidePods(object, set.profiles), ...settingsOfPods(object, set)]),
};

export function settingsOutsidePods(at: LocatedObject, profiles: Profiles): readonly Violation[] {
  return problemsOutsidePods(withPodsOf(at), profiles).map((found) => createViolation(at, found));
}

function withPodsOf(at: LocatedObject): PodBearingObject {
  return { ...at, root: at.document.value, pods: podsOf(at) };
}

function settingsOfPods(at: LocatedObject, { objects, profiles }: ManifestSet): readonly Violation[] {
  const namespaceLabels = labelsIn(namespaceOf(at, objects));
  return [
    ...problemsOfPods(withPodsOf(at), profiles).map((found) => createViolation(at, found)),
    ...podsOf(at).flatMap((place) => annotationOnly(place, namespaceLabels).map((partial) => ({ at, ...partial }))),
  ];
}

function createViolation(at: LocatedObject, { path, value, problem }: PlacedProblem): Violation {
  return { at, path, value, message: problem.message };
}

/** Reports Pods that opt in only by annotation. An unknown namespace may have the required label, so its Pods pass. */
function annotationOnly(
  { pod, path }: LocatedPod,
  namespaceLabels: RawObject | undefined,
): readonly Omit<Violation, "at">[] {
  if (!optsInByAnnotation(pod)) return [];
  const selection = selectionOf(pod, namespaceLabels, ANY_RELEASE);
  if (selection.kind !== "not-selected") return [];
  const message = `This Pod is not injected: ${selection.because}.`;
  return [{ path: [...path, "metadata", "annotations", INJECT], value: "enabled", message }];
}
