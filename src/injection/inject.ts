/** Injects a Pod: resolves its policy, checks eligibility, plans, and computes the patch. Pure. */
import { countContainers, isWellFormed, labelsOf, podName } from "../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import { type ClusterConfig, clusterLayer } from "../policy/cluster-config.ts";
import { INJECT } from "../policy/fields.ts";
import type { Problem } from "../policy/problem.ts";
import { type Layer, resolvePolicy } from "../policy/resolve.ts";
import { labelProblems } from "./opt-in/metadata-problems.ts";
import type { Explanation, Outcome, SkipReason } from "./outcome.ts";
import { diffPods } from "./patch.ts";
import { chooseMode, reasonToSkip } from "./plan/eligibility.ts";
import { planManager } from "./plan/manager-plan.ts";
import type { PlanRequest } from "./plan/plan.ts";
import { patchProblem, skipProblems } from "./plan/skip-problems.ts";
import { planSleep } from "./plan/sleep-plan.ts";
import { applyEdits } from "./record/edit.ts";
import { type ExistingInjection, findExistingInjection } from "./record/existing-injection.ts";
import { restorePod } from "./record/restore.ts";
import { type ClusterFacts, type InjectionRequest, LIMITS, type Limits, type Randomness } from "./request.ts";

export type { ClusterFacts, InjectionRequest, Randomness } from "./request.ts";

/**
 * Deterministic and idempotent: reverts an earlier injection except for values that other programs changed, plans the Pod again,
 * and compares the result with the received Pod.
 */
export function injectPod(
  request: InjectionRequest,
  config: ClusterConfig,
  facts: ClusterFacts,
  randomness: Randomness,
): Outcome {
  const receivedPod: RawObject = isRawObject(request.pod) ? request.pod : {};
  const name = displayNameOf(request, receivedPod);
  const where = `pod ${name}`;
  const resolution = resolvePolicy(layersOf(name, receivedPod, request, config), config.profiles);
  const limits = request.limits ?? LIMITS;
  const hasTooManyContainers = exceedsContainerLimit(receivedPod, limits);
  const existing = hasTooManyContainers ? undefined : findExistingInjection(receivedPod);
  const { mode, problems: modeProblems } = chooseMode(resolution.policy.mode, facts, existingMode(existing), where);
  const problemsOfLabels = labelProblems(labelsOf(receivedPod), where).map(({ problem }) => problem);
  const problemsBeforePlanning = [
    ...problemsOfLabels,
    ...resolution.problems,
    ...modeProblems,
    ...(facts.problems ?? []),
  ];
  const explain = (moreProblems: readonly Problem[] = []): Explanation => ({
    policy: resolution.policy,
    origins: resolution.origins,
    problems: withinLimit([...problemsBeforePlanning, ...moreProblems], where),
  });
  const skip = (reason: SkipReason, moreProblems: readonly Problem[] = []): Outcome => ({
    kind: "unchanged",
    reason,
    explanation: explain(moreProblems),
  });

  const skipReason = reasonToSkip({
    pod: receivedPod,
    namespace: request.namespace,
    optIn: request.optIn,
    inject: resolution.policy.inject,
    isEnabledByOverride: request.overrides.some((layer) => layer.annotations[INJECT] === "enabled"),
    systemNamespaces: facts.systemNamespaces,
    mode,
    preStop: resolution.policy.preStop,
    hasTooManyContainers,
  });
  if (skipReason !== undefined) return skip(skipReason, skipProblems(skipReason, receivedPod, where));
  const pod = originalOf(receivedPod, existing);
  if (pod === undefined) return skip("invalid_pod");

  const planRequest: PlanRequest = {
    pod,
    existing,
    policy: resolution.policy,
    mode,
    image: facts.managerImage,
    pullPolicy: facts.managerPullPolicy,
    pullSecrets: facts.pullSecrets,
    imagePullError: facts.imagePullError,
    apiServerVersion: facts.apiServerVersion,
    lowestKubeletVersion: facts.lowestKubeletVersion,
    runtimeWithoutImageVolumes: facts.runtimeWithoutImageVolumes,
    namespaceAnnotations: request.namespaceAnnotations,
    limitRanges: facts.limitRanges ?? [],
    where,
    newToken: randomness.newToken,
    namespace: request.namespace,
    issueRelayAccess: request.issueRelayAccess,
  };
  const plan = mode === "sleep" ? planSleep(planRequest) : planManager(planRequest);
  if (plan.kind === "skip") return skip(plan.reason, plan.problems);
  const explanation = explain(plan.problems);
  const hasBlockingProblem =
    config.onInvalid !== "warn" && [...problemsBeforePlanning, ...plan.problems].some(isSubjectToOnInvalid);
  if (hasBlockingProblem && config.onInvalid === "deny")
    return { kind: "refused", message: refusalMessage(explanation.problems), explanation };
  if (hasBlockingProblem) return skip("invalid_value", plan.problems);

  const changedPod = applyEdits(pod, plan.edits);
  const patch = diffPods(receivedPod, changedPod);
  if (patch.length === 0) return skip("up_to_date", plan.problems);
  const patchText = JSON.stringify(patch);
  if (isTooLong(patchText, limits))
    return skip("patch_too_large", [...plan.problems, patchProblem(patchText, limits.patchBytes, where)]);
  return { kind: "patched", mode, pod: changedPod, patch, patchText, explanation };
}

function displayNameOf({ podName: name }: InjectionRequest, pod: RawObject): string {
  return name ?? podName(pod);
}

/** The nearest layer is the first. */
function layersOf(name: string, pod: RawObject, request: InjectionRequest, config: ClusterConfig): readonly Layer[] {
  const annotations = objectAt(objectAt(pod, "metadata"), "annotations") ?? {};
  return [
    ...request.overrides,
    { scope: "pod", name, annotations },
    { scope: "namespace", name: request.namespace, annotations: request.namespaceAnnotations },
    clusterLayer(config),
  ];
}

/** Returns the Pod without an earlier injection; `undefined` if the API server would refuse that Pod. */
function originalOf(received: RawObject, existing: ExistingInjection | undefined): RawObject | undefined {
  if (!isWellFormed(received)) return undefined;
  if (existing === undefined) return received;
  const restored = restorePod(received, existing);
  return isWellFormed(restored) ? restored : undefined;
}

function existingMode(existing: ExistingInjection | undefined): "native" | "classic" | undefined {
  if (existing?.manager === undefined) return undefined;
  return existing.manager.list === "initContainers" ? "native" : "classic";
}

/** Whether `onInvalid` applies. Other problems, such as misspelt names, are only warnings. */
function isSubjectToOnInvalid(problem: Problem): boolean {
  return ["bad_value", "list_too_long", "unknown_profile"].includes(problem.code);
}

function refusalMessage(problems: readonly Problem[]): string {
  return `lastcall refused the Pod (onInvalid: deny): ${problems.map(({ where, message }) => `${where}: ${message}`).join(" ")}`;
}

function exceedsContainerLimit(pod: RawObject, { containers }: Limits): boolean {
  return countContainers(pod) > containers;
}

/** Maximum number of problems per outcome, including the problem that counts the omitted ones. */
const PROBLEM_LIMIT = 50;

function withinLimit(problems: readonly Problem[], where: string): readonly Problem[] {
  if (problems.length <= PROBLEM_LIMIT) return problems;
  const shownProblems = problems.slice(0, PROBLEM_LIMIT - 1);
  const message = `${problems.length - shownProblems.length} more problems are not shown.`;
  return [...shownProblems, { code: "more_problems", where, message }];
}

function isTooLong(patchText: string, { patchBytes }: Limits): boolean {
  // A UTF-16 unit takes at most three bytes, so nearly every patch is checked without encoding it.
  return patchText.length * 3 > patchBytes && new TextEncoder().encode(patchText).length > patchBytes;
}
