/** Finds rollouts that terminate all Pods, and PodDisruptionBudgets that block all evictions. */
import { groupOf } from "../../kubernetes/listed-objects.ts";
import { objectAt, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { proxiedServicesOf } from "../containers.ts";
import { type LocatedObject, type ManifestSet, type Workload, workloadsSelectedBy } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const ROLLOUT_STOPS_ALL: Rule = {
  id: "rollout-stops-all",
  title: "A rollout terminates every Pod before a new one is ready",
  why: "With Recreate, or a maxUnavailable of at least the number of replicas, the Deployment terminates all its Pods at the same time. Until new Pods are ready no Pod serves requests, however gracefully each Pod shuts down.",
  remedy: "Use RollingUpdate with maxUnavailable: 0 and maxSurge: 1.",
  level: "warning",
  check: ({ workloads }) =>
    workloads
      .filter(({ kind, apiVersion }) => kind === "Deployment" && groupOf(apiVersion) === "apps")
      .filter((workload) => proxiedServicesOf(workload).length > 0)
      .flatMap(rolloutViolations),
};

function rolloutViolations(workload: Workload): readonly Violation[] {
  const replicas = workload.replicas ?? 1;
  const strategy = objectAt(objectAt(workload.object, "spec"), "strategy");
  const path = [...workload.objectPath, "spec", "strategy"];
  if (replicas === 0) return [];
  if (textAt(strategy, "type") === "Recreate") {
    const message = "Recreate terminates every Pod before the first new one is created.";
    return [{ at: workload, path: [...path, "type"], value: "Recreate", message }];
  }
  const rollingUpdate = objectAt(strategy, "rollingUpdate");
  const maxUnavailable = valueAt(rollingUpdate, "maxUnavailable");
  const unavailableCount = countOf(maxUnavailable, replicas, Math.floor);
  const surgeCount = countOf(valueAt(rollingUpdate, "maxSurge") ?? "25%", replicas, Math.ceil);
  // If maxUnavailable and maxSurge both round to 0, the Deployment controller terminates one Pod.
  const terminatedCount = unavailableCount === 0 && surgeCount === 0 ? 1 : unavailableCount;
  if (maxUnavailable === undefined || terminatedCount === undefined || terminatedCount < replicas) return [];
  const message = `With ${replicas} ${replicas === 1 ? "replica" : "replicas"} a rollout may terminate ${terminatedCount === 1 ? "1 Pod" : `${terminatedCount} Pods`} before a new Pod is ready.`;
  return [{ at: workload, path: [...path, "rollingUpdate", "maxUnavailable"], value: maxUnavailable, message }];
}

export const BUDGET_BLOCKS_EVICTION: Rule = {
  id: "budget-blocks-eviction",
  title: "A PodDisruptionBudget that does not allow an eviction",
  why: "The API server refuses every eviction, so nodes cannot be drained. Administrators then delete the Pods or the node, which ignores the budget.",
  remedy: "Allow one eviction: set maxUnavailable: 1, or minAvailable below the number of replicas.",
  level: "error",
  check: (set) =>
    set.objects.filter(({ kind }) => kind === "PodDisruptionBudget").flatMap((budget) => budgetViolations(budget, set)),
};

function budgetViolations(budget: LocatedObject, set: ManifestSet): readonly Violation[] {
  const spec = objectAt(budget.object, "spec");
  const selectedWorkloads = workloadsSelectedBy(budget, set);
  const replicas = replicasOfAll(selectedWorkloads);
  const maxUnavailable = valueAt(spec, "maxUnavailable");
  if (countOf(maxUnavailable, replicas ?? 1, Math.ceil) === 0 && replicas !== 0) {
    const message = "This PodDisruptionBudget does not allow an eviction.";
    return [{ at: budget, path: [...budget.objectPath, "spec", "maxUnavailable"], value: maxUnavailable, message }];
  }
  const minAvailable = valueAt(spec, "minAvailable");
  const requiredCount = replicas === undefined ? undefined : countOf(minAvailable, replicas, Math.ceil);
  const blocksAll =
    minAvailable === "100%" || (replicas !== undefined && requiredCount !== undefined && requiredCount >= replicas);
  if (!blocksAll || replicas === 0) return [];
  const detail = replicas === undefined ? "" : `: ${replicas} of ${replicas} Pods must stay available`;
  return [
    {
      at: budget,
      path: [...budget.objectPath, "spec", "minAvailable"],
      value: minAvailable,
      message: `This PodDisruptionBudget does not allow an eviction${detail}.`,
    },
  ];
}

/** `undefined` without workloads, or if the kind of a workload does not have replicas. */
function replicasOfAll(workloads: readonly Workload[]): number | undefined {
  if (workloads.length === 0) return undefined;
  return workloads.reduce<number | undefined>(
    (sum, { replicas }) => (sum === undefined || replicas === undefined ? undefined : sum + replicas),
    0,
  );
}

/** @param round rounding of percentages, which depends on the field */
function countOf(value: unknown, total: number, round: (share: number) => number): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const percent = typeof value === "string" ? /^([0-9]{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : round((Number(percent) * total) / 100);
}
