/** The whole way of a Pod through the product, with no input or output of its own. */
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
 * Deterministic given its arguments, and a fixed point: an injected Pod is first taken back as far as its parts are
 * still ours, planned again, and compared with what was received.
 */
export function injectPod(
  request: InjectionRequest,
  config: ClusterConfig,
  facts: ClusterFacts,
  randomness: Randomness,
): Outcome {
  const received: RawObject = isRawObject(request.pod) ? request.pod : {};
  const name = shownName(request, received);
  const where = `pod ${name}`;
  const resolved = resolvePolicy(layersOf(name, received, request, config), config.profiles);
  const limits = request.limits ?? LIMITS;
  const tooManyContainers = hasTooManyContainers(received, limits);
  const existing = tooManyContainers ? undefined : findExistingInjection(received);
  const { mode, problems: modeProblems } = chooseMode(resolved.policy.mode, facts, existingMode(existing), where);
  const ofLabels = labelProblems(labelsOf(received), where).map(({ problem }) => problem);
  const known = [...ofLabels, ...resolved.problems, ...modeProblems, ...(facts.problems ?? [])];
  const explain = (more: readonly Problem[] = []): Explanation => ({
    policy: resolved.policy,
    origin: resolved.origin,
    problems: withinLimit([...known, ...more], where),
  });
  const skip = (reason: SkipReason, more: readonly Problem[] = []): Outcome => ({
    kind: "unchanged",
    reason,
    explanation: explain(more),
  });

  const early = reasonToSkip({
    pod: received,
    namespace: request.namespace,
    optIn: request.optIn,
    inject: resolved.policy.inject,
    overridden: request.overrides.some((layer) => layer.annotations[INJECT] === "enabled"),
    systemNamespaces: facts.systemNamespaces,
    mode,
    tooManyContainers,
  });
  if (early !== undefined) return skip(early, skipProblems(early, received, where));
  const pod = originalOf(received, existing);
  if (pod === undefined) return skip("invalid_pod");

  const planning: PlanRequest = {
    pod,
    existing,
    policy: resolved.policy,
    mode,
    image: facts.managerImage,
    pullPolicy: facts.managerPullPolicy,
    pullSecrets: facts.pullSecrets,
    imageTrouble: facts.imageTrouble,
    apiServerVersion: facts.apiServerVersion,
    lowestKubeletVersion: facts.lowestKubeletVersion,
    oldRuntime: facts.oldRuntime,
    namespaceAnnotations: request.namespaceAnnotations,
    limitRanges: facts.limitRanges ?? [],
    where,
    newToken: randomness.newToken,
    namespace: request.namespace,
    giveRelayAccess: request.giveRelayAccess,
  };
  const plan = mode === "sleep" ? planSleep(planning) : planManager(planning);
  if (plan.kind === "skip") return skip(plan.reason, plan.problems);
  const explanation = explain(plan.problems);
  const isStopped = config.onInvalid !== "warn" && [...known, ...plan.problems].some(isUnreadable);
  if (isStopped && config.onInvalid === "deny")
    return { kind: "refused", message: refusal(explanation.problems), explanation };
  if (isStopped) return skip("invalid_value", plan.problems);

  const changed = applyEdits(pod, plan.edits);
  const patch = diffPods(received, changed);
  if (patch.length === 0) return skip("up_to_date", plan.problems);
  const patchText = JSON.stringify(patch);
  if (isTooLong(patchText, limits))
    return skip("patch_too_large", [...plan.problems, patchProblem(patchText, limits.patchBytes, where)]);
  return { kind: "patched", mode, pod: changed, patch, patchText, explanation };
}

function shownName({ podName: given }: InjectionRequest, pod: RawObject): string {
  return given ?? podName(pod);
}

/** Nearest first. */
function layersOf(name: string, pod: RawObject, request: InjectionRequest, config: ClusterConfig): readonly Layer[] {
  const annotations = objectAt(objectAt(pod, "metadata"), "annotations") ?? {};
  return [
    ...request.overrides,
    { scope: "pod", name, annotations },
    { scope: "namespace", name: request.namespace, annotations: request.namespaceAnnotations },
    clusterLayer(config),
  ];
}

/** The Pod without what an earlier injection left in it; `undefined` when that is none the API server would accept. */
function originalOf(received: RawObject, existing: ExistingInjection | undefined): RawObject | undefined {
  if (!isWellFormed(received)) return undefined;
  if (existing === undefined) return received;
  const restored = restorePod(received, existing);
  // Of a Pod that is nothing but a manager no container is left.
  return isWellFormed(restored) ? restored : undefined;
}

function existingMode(existing: ExistingInjection | undefined): "native" | "classic" | undefined {
  if (existing?.manager === undefined) return undefined;
  return existing.manager.list === "initContainers" ? "native" : "classic";
}

/** What `onInvalid` is about. A misspelt name or a limit is worth a warning, never a stopped rollout. */
function isUnreadable(problem: Problem): boolean {
  return ["bad_value", "list_too_long", "unknown_profile"].includes(problem.code);
}

function refusal(problems: readonly Problem[]): string {
  return `lastcall refuses this Pod: ${problems.map(({ where, message }) => `${where}: ${message}`).join(" ")}`;
}

/** Whether the Pod is too large to be planned; asked before anything is. */
function hasTooManyContainers(pod: RawObject, { containers }: Limits): boolean {
  return countContainers(pod) > containers;
}

/** Problems of one answer, with the one that counts those left out. */
const PROBLEM_LIMIT = 50;

function withinLimit(problems: readonly Problem[], where: string): readonly Problem[] {
  if (problems.length <= PROBLEM_LIMIT) return problems;
  const named = problems.slice(0, PROBLEM_LIMIT - 1);
  const message = `There are ${problems.length - named.length} more problems than an answer names.`;
  return [...named, { code: "more_problems", where, message }];
}

function isTooLong(patchText: string, { patchBytes }: Limits): boolean {
  // A character becomes three bytes at most: nearly every patch is short by that measure, and not encoded twice.
  return patchText.length * 3 > patchBytes && new TextEncoder().encode(patchText).length > patchBytes;
}
