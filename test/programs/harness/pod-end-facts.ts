/** Collects the times and the outcome of the end of a Pod with a container `app`. Pure. */
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { type EndedPod, podEndOf } from "../../../src/demo/report/pod-end.ts";

export type PodEndFacts = {
  /** Time from the deletion to the first stop signal of a regular container. */
  readonly drainSeconds: number;
  /** Time from the stop signal of the container `app` to its exit. */
  readonly stopSeconds: number;
  readonly killed: boolean;
  /** Outcome in the manager's report; empty without a report. */
  readonly outcome: string;
  readonly why: string;
};

export function collectEndFacts(end: EndedPod): PodEndFacts {
  const appEvents = end.events.filter(({ container, type }) => container === "app" && type !== "line");
  const stopSignal = appEvents.find(({ type }) => type === "SIGTERM");
  const exit = appEvents.findLast(({ type }) => type === "exited");
  return {
    drainSeconds: end.drainSeconds,
    stopSeconds:
      stopSignal === undefined || exit === undefined ? 0 : Math.round((exit.atMs - stopSignal.atMs) / 10) / 100,
    killed: appEvents.some(({ type }) => type === "SIGKILL"),
    outcome: end.summary?.outcome ?? "",
    why: end.summary?.why ?? "",
  };
}

export function collectPodFacts(pod: RunningPod): PodEndFacts {
  return collectEndFacts(podEndOf(pod, { forwardedConnections: [], propagationMs: 0, slicesWithdrawnMs: undefined }));
}
