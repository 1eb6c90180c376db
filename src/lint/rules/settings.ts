/** Finds lastcall labels and annotations without effect. */
import {
  type PlacedProblem,
  type PodBearingObject,
  problemsAroundPods,
  problemsOfPods,
} from "../../injection/opt-in/object-problems.ts";
import { ANY_RELEASE, optsInByAnnotation, selectionOf } from "../../injection/opt-in/selection.ts";
import type { PodPlace } from "../../kubernetes/pod-template.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { INJECT } from "../../policy/fields.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { type Located, labelsIn, type ManifestSet, namespaceOf, podsOf } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const LASTCALL_SETTING: Rule = {
  id: "lastcall-setting",
  title: "A label or annotation of lastcall has no effect",
  why: "A misspelt name, an invalid value or a setting on the wrong object has no effect: the value falls back to the namespace, then the cluster, then the default, or the Pod is not injected.",
  remedy:
    "Correct it; the reference lists every annotation. Pass --config to resolve profiles of the cluster configuration.",
  level: "error",
  check: (set) =>
    set.objects.flatMap((object) => [...settingsAroundPods(object, set.profiles), ...settingsOfPods(object, set)]),
};

export function settingsAroundPods(at: Located, profiles: Profiles): readonly Violation[] {
  return problemsAroundPods(bearerOf(at), profiles).map((found) => violation(at, found));
}

function bearerOf(at: Located): PodBearingObject {
  return { ...at, root: at.document.value, pods: podsOf(at) };
}

function settingsOfPods(at: Located, { objects, profiles }: ManifestSet): readonly Violation[] {
  const namespaceLabels = labelsIn(namespaceOf(at, objects));
  return [
    ...problemsOfPods(bearerOf(at), profiles).map((found) => violation(at, found)),
    ...podsOf(at).flatMap((place) => annotationOnly(place, namespaceLabels).map((one) => ({ at, ...one }))),
  ];
}

function violation(at: Located, { path, value, problem }: PlacedProblem): Violation {
  return { at, path, value, message: problem.message };
}

/** An annotation opts in only together with a label, which an unknown namespace may have. */
function annotationOnly(
  { pod, path }: PodPlace,
  namespaceLabels: RawObject | undefined,
): readonly Omit<Violation, "at">[] {
  if (!optsInByAnnotation(pod)) return [];
  const selection = selectionOf(pod, namespaceLabels, ANY_RELEASE);
  if (selection.kind !== "not-selected") return [];
  const message = `This Pod is not injected: ${selection.because}.`;
  return [{ path: [...path, "metadata", "annotations", INJECT], value: "enabled", message }];
}
