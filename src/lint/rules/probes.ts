/** Finds missing readiness probes, and liveness probes that restart busy containers. */
import { isSameJson, objectAt, type RawObject, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { servingContainers } from "../containers.ts";
import type { Rule, Violation } from "../rule.ts";

export const NO_READINESS: Rule = {
  id: "no-readiness",
  title: "No readiness probe behind a Service",
  why: "Without a readiness probe a container counts as ready as soon as its process runs. A rollout then sends requests to Pods that do not listen yet, and terminates old Pods before new ones can serve.",
  remedy: "Add a readinessProbe that succeeds when the container can serve requests.",
  level: "warning",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      servingContainers(workload)
        .filter(({ container }) => objectAt(container, "readinessProbe") === undefined)
        .map(({ path, name, services }): Violation => {
          const message = `Container ${name} receives requests of Service ${services.join(", ")} as soon as it starts, even if it is not ready.`;
          return { at: workload, path: [...path, "readinessProbe"], value: undefined, message };
        }),
    ),
};

export const LIVENESS_KILLS: Rule = {
  id: "liveness-kills",
  title: "The liveness probe restarts a container that is only unready",
  why: "A container that fails its readiness probe on purpose, because it drains or is overloaded, is restarted with its open requests if its liveness probe checks the same endpoint and fails at the same time or earlier. (Once a Pod is being deleted, the kubelet stops its liveness probes.)",
  remedy:
    "Use a separate liveness endpoint that only detects a hung process, or set a higher failureThreshold than that of the readiness probe.",
  level: "note",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      servingContainers(workload).flatMap(({ container, path, name }): readonly Violation[] => {
        const liveness = objectAt(container, "livenessProbe");
        const readiness = objectAt(container, "readinessProbe");
        if (liveness === undefined || readiness === undefined || !isSameProbe(liveness, readiness)) return [];
        if (secondsToFail(liveness) > secondsToFail(readiness)) return [];
        const message = `Container ${name} is restarted after ${secondsToFail(liveness)} s of being unready, because its liveness probe checks the same endpoint as its readiness probe.`;
        return [{ at: workload, path: [...path, "livenessProbe"], value: liveness, message }];
      }),
    ),
};

/** Compares HTTP and gRPC probes only: TCP and exec probes usually check the process, not readiness. */
function isSameProbe(liveness: RawObject, readiness: RawObject): boolean {
  return ["httpGet", "grpc"].some((handler) => {
    const target = objectAt(liveness, handler);
    return target !== undefined && isSameJson(target, objectAt(readiness, handler));
  });
}

/** The API's defaults are a period of 10 s and a threshold of three failures. */
function secondsToFail(probe: RawObject): number {
  return (wholeNumberAt(probe, "periodSeconds") ?? 10) * (wholeNumberAt(probe, "failureThreshold") ?? 3);
}
