/** Rollouts and evictions that leave no Pod, or never happen. */
import { groupOf } from "../../kubernetes/listed-objects.ts";
import { objectAt, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { balancedServicesOf } from "../containers.ts";
import { type Located, type ManifestSet, selectedBy, type Workload } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const ROLLOUT_STOPS_ALL: Rule = {
  id: "rollout-stops-all",
  title: "A rollout ends every Pod before a new one serves",
  why: "Recreate, or a maxUnavailable as large as the number of replicas, lets the Deployment end all its Pods at once. No shutdown, however careful, helps requests that have no Pod to go to.",
  remedy: "Use RollingUpdate with maxUnavailable: 0 and maxSurge: 1.",
  level: "warning",
  check: ({ workloads }) =>
    workloads
      .filter(({ kind, apiVersion }) => kind === "Deployment" && groupOf(apiVersion) === "apps")
      .filter((workload) => balancedServicesOf(workload).length > 0)
      .flatMap(stopsAll),
};

function stopsAll(workload: Workload): readonly Violation[] {
  const replicas = workload.replicas ?? 1;
  const strategy = objectAt(objectAt(workload.object, "spec"), "strategy");
  const path = [...workload.at, "spec", "strategy"];
  if (replicas === 0) return [];
  if (textAt(strategy, "type") === "Recreate") {
    const message = "Recreate ends every Pod before the first new one is made.";
    return [{ at: workload, path: [...path, "type"], value: "Recreate", message }];
  }
  const rolling = objectAt(strategy, "rollingUpdate");
  const given = valueAt(rolling, "maxUnavailable");
  const unavailable = countOf(given, replicas, Math.floor);
  const surge = countOf(valueAt(rolling, "maxSurge") ?? "25%", replicas, Math.ceil);
  // Where both come to nothing the controller ends one Pod.
  const ended = unavailable === 0 && surge === 0 ? 1 : unavailable;
  if (given === undefined || ended === undefined || ended < replicas) return [];
  const message = `With ${replicas} ${replicas === 1 ? "replica" : "replicas"} a rollout may end ${ended} before a new Pod is ready.`;
  return [{ at: workload, path: [...path, "rollingUpdate", "maxUnavailable"], value: given, message }];
}

export const BUDGET_BLOCKS_EVICTION: Rule = {
  id: "budget-blocks-eviction",
  title: "A PodDisruptionBudget that allows no eviction",
  why: "No Pod may ever be evicted, so nodes cannot be drained. Those who must drain them delete the Pods or the node instead, and then nothing keeps any of the replicas.",
  remedy: "Allow one: maxUnavailable: 1, or a minAvailable below the number of replicas.",
  level: "error",
  check: (set) =>
    set.objects.filter(({ kind }) => kind === "PodDisruptionBudget").flatMap((budget) => blocks(budget, set)),
};

function blocks(budget: Located, set: ManifestSet): readonly Violation[] {
  const spec = objectAt(budget.object, "spec");
  const chosen = selectedBy(budget, set);
  const replicas = replicasOfAll(chosen);
  const unavailable = valueAt(spec, "maxUnavailable");
  if (countOf(unavailable, replicas ?? 1, Math.ceil) === 0 && replicas !== 0) {
    const message = "No Pod of this budget may be evicted.";
    return [{ at: budget, path: [...budget.at, "spec", "maxUnavailable"], value: unavailable, message }];
  }
  const available = valueAt(spec, "minAvailable");
  const kept = replicas === undefined ? undefined : countOf(available, replicas, Math.ceil);
  const blocksAll = available === "100%" || (replicas !== undefined && kept !== undefined && kept >= replicas);
  if (!blocksAll || replicas === 0) return [];
  const have = replicas === undefined ? "" : `: ${replicas} of ${replicas} must stay`;
  return [
    {
      at: budget,
      path: [...budget.at, "spec", "minAvailable"],
      value: available,
      message: `No Pod of this budget may be evicted${have}.`,
    },
  ];
}

/** `undefined` where the files do not tell, or a kind is chosen that is not counted. */
function replicasOfAll(workloads: readonly Workload[]): number | undefined {
  if (workloads.length === 0) return undefined;
  return workloads.reduce<number | undefined>(
    (sum, { replicas }) => (sum === undefined || replicas === undefined ? undefined : sum + replicas),
    0,
  );
}

/** @param round a share: up or down, as the field has it. */
function countOf(value: unknown, of: number, round: (share: number) => number): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const percent = typeof value === "string" ? /^([0-9]{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : round((Number(percent) * of) / 100);
}
