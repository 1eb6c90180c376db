/** Evaluates the webhook selectors of a release (`_selectors.tpl` of the chart; a test compares both) for a Pod. */
import { annotationsOf, labelsOf } from "../../kubernetes/pod.ts";
import { type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { INJECT, REVISION } from "../../policy/fields.ts";
import { quote } from "../../policy/quote.ts";

/** The chart values that determine the selectors. */
export type Release = {
  /** Empty for a release without a revision; `undefined` matches every revision. */
  readonly revision: string | undefined;
  readonly injection: "opt-in" | "opt-out";
};

/** For clusters whose releases are unknown. */
export const ANY_RELEASE: Release = { revision: undefined, injection: "opt-in" };

export type Selection =
  | { readonly kind: "selected" }
  /** Depends on the namespace, whose labels are unknown. */
  | { readonly kind: "by-namespace" }
  | { readonly kind: "not-selected"; readonly because: string };

/** @param namespaceLabels `undefined` for an unknown namespace */
export function selectionOf(pod: RawObject, namespaceLabels: RawObject | undefined, release: Release): Selection {
  const podLabel = textAt(labelsOf(pod), INJECT);
  const revisionCause = revisionProblem(pod, namespaceLabels, release);
  if (revisionCause !== undefined) return { kind: "not-selected", because: revisionCause };
  if (podLabel === "disabled") return { kind: "not-selected", because: `label ${INJECT} of the Pod is "disabled"` };
  const isRevisionKnown = namespaceLabels !== undefined || Object.hasOwn(labelsOf(pod), REVISION);
  if (podLabel === "enabled" && (isRevisionKnown || !release.revision)) return { kind: "selected" };
  if (namespaceLabels === undefined) return { kind: "by-namespace" };
  const namespaceLabel = textAt(namespaceLabels, INJECT);
  const optsIn = release.injection === "opt-in" ? namespaceLabel === "enabled" : namespaceLabel !== "disabled";
  if (optsIn || podLabel === "enabled") return { kind: "selected" };
  return { kind: "not-selected", because: optInProblem(pod, podLabel, namespaceLabel) };
}

/** Whether the Pod opts in without the label. Selectors do not match annotations, so the namespace's label has to select the Pod. */
export function optsInByAnnotation(pod: RawObject): boolean {
  return annotationsOf(pod)[INJECT] === "enabled" && !Object.hasOwn(labelsOf(pod), INJECT);
}

/** The Pod's revision overrides the namespace's; a release without a revision requires that neither has the label. */
function revisionProblem(pod: RawObject, namespace: RawObject | undefined, { revision }: Release): string | undefined {
  if (revision === undefined) return undefined;
  const labels = labelsOf(pod);
  const owner = Object.hasOwn(labels, REVISION) ? "Pod" : "namespace";
  const revisionLabel = Object.hasOwn(labels, REVISION) ? labels[REVISION] : namespace?.[REVISION];
  const isUnknown = revisionLabel === undefined && namespace === undefined;
  if (isUnknown || revisionLabel === (revision === "" ? undefined : revision)) return undefined;
  const releaseText =
    revision === "" ? "the chart's value `revision` is not set" : `the revision of the release is ${quote(revision)}`;
  if (revisionLabel === undefined)
    return `neither the Pod nor its namespace has the label ${REVISION}, and ${releaseText}`;
  return `label ${REVISION} of the ${owner} is ${quote(String(revisionLabel))}, and ${releaseText}`;
}

function optInProblem(pod: RawObject, podLabel: string | undefined, namespaceLabel: string | undefined): string {
  const remedy = `set the label ${INJECT}: enabled on the Pod template or the namespace`;
  if (podLabel !== undefined) return `label ${INJECT} of the Pod is ${quote(podLabel)}; ${remedy}`;
  if (optsInByAnnotation(pod))
    return `${INJECT}: enabled is an annotation of the Pod, which selectors do not match; ${remedy}`;
  if (namespaceLabel !== undefined) return `label ${INJECT} of the namespace is ${quote(namespaceLabel)}; ${remedy}`;
  return `neither the Pod nor its namespace has the label ${INJECT}: enabled`;
}
