/** Reviews an object that is not injected, such as a Namespace: allows it, with a warning for each problem. */
import { problemsOfPods, problemsOutsidePods } from "../../injection/opt-in/object-problems.ts";
import { optsInByAnnotation } from "../../injection/opt-in/selection.ts";
import { allowedText } from "../../injection/review.ts";
import { podName } from "../../kubernetes/pod.ts";
import { podsIn } from "../../kubernetes/pod-template.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { INJECT } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { type AdmissionResult, faultResult, malformedResult, type ReportSettings } from "./admit.ts";
import { readReview } from "./review-request.ts";

export function checkSettings(
  text: string,
  profiles: Profiles,
  reportSettings: ReportSettings | undefined,
): AdmissionResult {
  const reading = readReview(text);
  if (reading.kind === "malformed") return malformedResult(reading.reason, reading.message);
  const { uid, namespace, object, dryRun } = reading.request;
  try {
    const { outsidePods, inPods } = settingProblems(object ?? {}, profiles);
    // The Pods of a template are reviewed when they are created, and get their own Events.
    const isPod = textAt(object, "kind") === "Pod";
    if (object !== undefined && !dryRun) reportSettings?.(object, namespace, isPod ? inPods : outsidePods);
    const problems = [...outsidePods, ...inPods];
    return {
      status: 200,
      body: allowedText(uid, problems),
      metricLabels: { outcome: "checked", reason: "none", mode: "none", dryRun },
      problems: problems.map(({ code }) => code),
      uid,
      namespace,
      pod: nameInLog(object),
      fault: undefined,
    };
  } catch (fault) {
    return { ...faultResult(fault), uid, namespace };
  }
}

function nameInLog(object: RawObject | undefined): string {
  return `${textAt(object, "kind") ?? "object"}/${textAt(objectAt(object, "metadata"), "name") ?? ""}`.slice(0, 253);
}

type SettingProblems = { readonly outsidePods: readonly Problem[]; readonly inPods: readonly Problem[] };

function settingProblems(object: RawObject, profiles: Profiles): SettingProblems {
  const kind = textAt(object, "kind") ?? "";
  const apiVersion = textAt(object, "apiVersion") ?? "";
  const podBearingObject = { objectPath: [], root: object, object, kind, apiVersion, pods: podsIn(object) };
  return {
    outsidePods: problemsOutsidePods(podBearingObject, profiles).map(({ problem }) => problem),
    inPods: [
      ...problemsOfPods(podBearingObject, profiles).map(({ problem }) => problem),
      ...(kind === "Pod" ? annotationOptInProblems(object) : []),
    ],
  };
}

/** The webhook at /settings receives only Pods without an effective opt-in: its selectors exclude Pods whose labels or namespace opt in. */
function annotationOptInProblems(pod: RawObject): readonly Problem[] {
  if (!optsInByAnnotation(pod)) return [];
  const message = "The annotation has no effect, because webhook selectors match only labels. Set the label.";
  return [{ code: "wrong_scope", where: `pod ${podName(pod)}, annotation ${INJECT}`, message }];
}
