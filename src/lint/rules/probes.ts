/** Probes that send requests to a Pod too early, or kill one that is busy. */
import { objectAt, type RawObject, sameJson, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { servingContainers } from "../containers.ts";
import type { Rule, Violation } from "../rule.ts";

export const NO_READINESS: Rule = {
  id: "no-readiness",
  title: "No readiness probe behind a Service",
  why: "Without a readiness probe a container counts as ready as soon as its process runs. A rollout then sends requests to Pods that do not listen yet, and ends old Pods before new ones can serve.",
  remedy: "Give the container a readinessProbe that succeeds when it can answer requests.",
  level: "warning",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      servingContainers(workload)
        .filter(({ container }) => objectAt(container, "readinessProbe") === undefined)
        .map(({ path, name, services }): Violation => {
          const message = `Container ${name} serves Service ${services.join(", ")} from the moment it starts, ready or not.`;
          return { at: workload, path: [...path, "readinessProbe"], value: undefined, message };
        }),
    ),
};

export const LIVENESS_KILLS: Rule = {
  id: "liveness-kills",
  title: "The liveness probe kills a Pod that is only not ready",
  why: "A Pod that fails its readiness probe to send clients away, because it drains by itself or has too much to do, is killed with its open requests when its liveness probe asks the same question and gives up no later. (Once a Pod is being deleted the kubelet asks for liveness no more.)",
  remedy:
    "Let liveness ask whether the process hangs, at an address of its own, or give it a higher failureThreshold than readiness.",
  level: "note",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      servingContainers(workload).flatMap(({ container, path, name }): readonly Violation[] => {
        const liveness = objectAt(container, "livenessProbe");
        const readiness = objectAt(container, "readinessProbe");
        if (liveness === undefined || readiness === undefined || !asksTheSame(liveness, readiness)) return [];
        if (secondsToFail(liveness) > secondsToFail(readiness)) return [];
        const message = `Container ${name} is restarted when it is not ready for ${secondsToFail(liveness)} s: its liveness probe asks what its readiness probe asks.`;
        return [{ at: workload, path: [...path, "livenessProbe"], value: liveness, message }];
      }),
    ),
};

/** Only of HTTP and gRPC: an open socket or a command tells little of readiness, and asks about the process. */
function asksTheSame(liveness: RawObject, readiness: RawObject): boolean {
  return ["httpGet", "grpc"].some((handler) => {
    const asked = objectAt(liveness, handler);
    return asked !== undefined && sameJson(asked, objectAt(readiness, handler));
  });
}

/** By the API's defaults: every 10 s, and three in a row. */
function secondsToFail(probe: RawObject): number {
  return (wholeNumberAt(probe, "periodSeconds") ?? 10) * (wholeNumberAt(probe, "failureThreshold") ?? 3);
}
