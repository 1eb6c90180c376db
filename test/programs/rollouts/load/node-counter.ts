/** Counts the responses and failures of one node, and records the time of each Pod's last activity. */
import { type FailedRequest, type NodeResult, type Protocol, perProtocol } from "../rollouts-request.ts";

export type NodeCounter = {
  /** Records a request to a Pod, its response, or the close of a connection. */
  readonly recordActivity: (pod: string) => void;
  readonly countResponse: (protocol: Protocol, pod: string) => void;
  readonly countFailure: (failure: Omit<FailedRequest, "atMs">) => void;
  readonly recordStall: (ms: number) => void;
  /** Starts counting responses; failures are always counted. */
  readonly startMeasuring: () => void;
  readonly stopMeasuring: () => void;
  readonly result: () => NodeResult;
};

const MAX_FAILURES = 20;

export function createNodeCounter(nowMs: () => number): NodeCounter {
  const answered = perProtocol(() => 0);
  const failed = perProtocol(() => 0);
  const failures: FailedRequest[] = [];
  const perSecond: number[] = [];
  const lastWorkMs: Record<string, number> = {};
  const totals = { longestStallMs: 0, measuredMs: 0 };
  let fromMs: number | undefined;
  let isMeasuring = false;
  const recordActivity = (pod: string) => {
    lastWorkMs[pod] = nowMs();
  };
  return {
    recordActivity,
    countResponse: (protocol, pod) => {
      recordActivity(pod);
      if (!isMeasuring || fromMs === undefined) return;
      answered[protocol] += 1;
      const second = Math.trunc((nowMs() - fromMs) / 1_000);
      while (perSecond.length <= second) perSecond.push(0);
      perSecond[second] = (perSecond[second] ?? 0) + 1;
    },
    countFailure: (failure) => {
      failed[failure.protocol] += 1;
      if (failures.length < MAX_FAILURES) failures.push({ ...failure, atMs: nowMs() });
    },
    recordStall: (ms) => {
      if (isMeasuring) totals.longestStallMs = Math.max(totals.longestStallMs, Math.round(ms));
    },
    startMeasuring: () => {
      fromMs = nowMs();
      isMeasuring = true;
    },
    stopMeasuring: () => {
      isMeasuring = false;
      totals.measuredMs = fromMs === undefined ? 0 : Math.round(nowMs() - fromMs);
    },
    // The last second is incomplete, so the result omits it.
    result: () => ({ ...totals, answered, failed, failures, perSecond: perSecond.slice(0, -1), lastWorkMs }),
  };
}
