/** The whole way of a Pod through the product, with no input or output of its own. */
import type { GiveRelayAccess } from "../contract/relay-access.ts";
import { isWellFormed, podName } from "../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import { ANNOTATIONS, PREFIX } from "../policy/annotation-table.ts";
import { type ClusterConfig, clusterLayer } from "../policy/cluster-config.ts";
import type { Problem } from "../policy/problem.ts";
import { type Layer, resolvePolicy } from "../policy/resolve.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { labelProblems, reasonToSkip } from "./decision.ts";
import { applyEdits } from "./edit.ts";
import { findInjected, type Injected } from "./injected.ts";
import { hasTooManyContainers, isTooLong, LIMITS, type Limits, withinLimit } from "./limits.ts";
import { planManager } from "./manager-plan.ts";
import { chooseMode } from "./mode.ts";
import type { Explanation, Outcome, SkipReason } from "./outcome.ts";
import { diffPods } from "./patch.ts";
import type { PlanRequest } from "./plan-request.ts";
import { restorePod } from "./restore.ts";
import { planSleep } from "./sleep-plan.ts";

export type { ClusterFacts } from "./cluster-facts.ts";

export type InjectionRequest = {
  /** The raw object as received; never passed through a typed model. */
  readonly pod: object;
  /** From the admission request: `metadata.namespace` may be absent. */
  readonly namespace: string;
  /** `label`: the Pod must carry the opt-in label itself. `all`: being asked is the opt-in. */
  readonly optIn: "label" | "all";
  /** Of the namespace, if known: its annotations, and among them the labels by which Istio injects. */
  readonly namespaceAnnotations: Readonly<Record<string, unknown>>;
  /** Flags of the command line or tests: nearer than the Pod. Usually empty. */
  readonly overrides: readonly Layer[];
  /** Absent where there is no relay: what a Pod carries of one then stays. */
  readonly giveRelayAccess?: GiveRelayAccess | undefined;
  /** Others than the usual ones, to see what a larger Pod would take. */
  readonly limits?: Limits;
};

export type Randomness = {
  /** 32 hexadecimal characters that no one can guess (or reproducible ones for golden files). */
  readonly newToken: () => string;
};

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
  const where = `pod ${podName(received)}`;
  const resolved = resolvePolicy(layersOf(received, request, config), config.profiles);
  const limits = request.limits ?? LIMITS;
  const tooManyContainers = hasTooManyContainers(received, limits);
  const injected = tooManyContainers ? undefined : findInjected(received);
  const { mode, problems: modeProblems } = chooseMode(resolved.policy.mode, facts, standingMode(injected), where);
  const known = [...labelProblems(received, where), ...resolved.problems, ...modeProblems, ...(facts.problems ?? [])];
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
  if (early !== undefined) return skip(early);
  const pod = originalOf(received, injected);
  if (pod === undefined) return skip("invalid_pod");

  const planning: PlanRequest = {
    pod,
    injected,
    policy: resolved.policy,
    mode,
    image: facts.managerImage,
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
  if (isTooLong(patchText, limits)) return skip("patch_too_large", plan.problems);
  return { kind: "patched", mode, pod: changed, patch, patchText, explanation };
}

const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

/** Nearest first. */
function layersOf(pod: RawObject, request: InjectionRequest, config: ClusterConfig): readonly Layer[] {
  const annotations = objectAt(objectAt(pod, "metadata"), "annotations") ?? {};
  return [
    ...request.overrides,
    { scope: "pod", name: podName(pod), annotations },
    { scope: "namespace", name: request.namespace, annotations: request.namespaceAnnotations },
    clusterLayer(config),
  ];
}

/** The Pod without what an earlier injection left in it; `undefined` when that is none the API server would accept. */
function originalOf(received: RawObject, injected: Injected | undefined): RawObject | undefined {
  if (!isWellFormed(received)) return undefined;
  if (injected === undefined) return received;
  const restored = restorePod(received, injected);
  // Of a Pod that is nothing but a manager no container is left.
  return isWellFormed(restored) ? restored : undefined;
}

function standingMode(injected: Injected | undefined): "native" | "classic" | undefined {
  if (injected?.manager === undefined) return undefined;
  return injected.manager.list === "initContainers" ? "native" : "classic";
}

/** What `onInvalid` is about. A misspelt name or a limit is worth a warning, never a stopped rollout. */
function isUnreadable(problem: Problem): boolean {
  return ["bad_value", "list_too_long", "unknown_profile"].includes(problem.code);
}

function refusal(problems: readonly Problem[]): string {
  return `lastcall refuses this Pod: ${problems.map(({ where, message }) => `${where}: ${message}`).join(" ")}`;
}
