/** What the tables tell of the end of a Pod whose container is named `app`. Pure. */
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { type EndedPod, endOf } from "../../../src/demo/report/pod-end.ts";

export type PodEndFacts = {
  /** From the deletion to the first stop signal of a regular container. */
  readonly drainSeconds: number;
  /** From that signal until the last of them had left. */
  readonly stopSeconds: number;
  /** The grace period ended first. */
  readonly killed: boolean;
  /** As the manager reports; empty without one. */
  readonly outcome: string;
  readonly why: string;
};

export function factsOf(end: EndedPod): PodEndFacts {
  const ofApp = end.events.filter(({ container, what }) => container === "app" && what !== "line");
  const signalled = ofApp.find(({ what }) => what === "SIGTERM");
  const left = ofApp.findLast(({ what }) => what === "exited");
  return {
    drainSeconds: end.drainSeconds,
    stopSeconds:
      signalled === undefined || left === undefined ? 0 : Math.round((left.atMs - signalled.atMs) / 10) / 100,
    killed: ofApp.some(({ what }) => what === "SIGKILL"),
    outcome: end.summary?.outcome ?? "",
    why: end.summary?.why ?? "",
  };
}

/** Of a Pod that no Service offered. */
export function factsOfPod(pod: RunningPod): PodEndFacts {
  return factsOf(endOf(pod, { forwarded: [], propagationMs: 0, slicesWithdrawnMs: undefined }));
}
