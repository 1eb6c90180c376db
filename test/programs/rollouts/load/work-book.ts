/** Counts of one node: answers, failures, and when each Pod last did something. */
import { type FailedRequest, type NodeResult, type Protocol, perProtocol } from "../rollouts-request.ts";

export type WorkBook = {
  /** A Pod was asked, has answered, or was left. */
  readonly worked: (pod: string) => void;
  readonly answered: (protocol: Protocol, pod: string) => void;
  readonly failed: (failure: Omit<FailedRequest, "atMs">) => void;
  readonly stalled: (ms: number) => void;
  /** From now on answers and seconds count; failures always do. */
  readonly measure: () => void;
  /** The end of the measured time. */
  readonly close: () => void;
  readonly result: () => NodeResult;
};

const FAILURES_KEPT = 20;

/** @param nowMs the clock that all processes of the machine share */
export function createWorkBook(nowMs: () => number): WorkBook {
  const answered = perProtocol(() => 0);
  const failed = perProtocol(() => 0);
  const failures: FailedRequest[] = [];
  const perSecond: number[] = [];
  const lastWorkMs: Record<string, number> = {};
  const sums = { longestStallMs: 0, measuredMs: 0 };
  let fromMs: number | undefined;
  let open = false;
  const worked = (pod: string) => {
    lastWorkMs[pod] = nowMs();
  };
  return {
    worked,
    answered: (protocol, pod) => {
      worked(pod);
      if (!open || fromMs === undefined) return;
      answered[protocol] += 1;
      const second = Math.trunc((nowMs() - fromMs) / 1_000);
      while (perSecond.length <= second) perSecond.push(0);
      perSecond[second] = (perSecond[second] ?? 0) + 1;
    },
    failed: (failure) => {
      failed[failure.protocol] += 1;
      if (failures.length < FAILURES_KEPT) failures.push({ ...failure, atMs: nowMs() });
    },
    stalled: (ms) => {
      if (open) sums.longestStallMs = Math.max(sums.longestStallMs, Math.round(ms));
    },
    measure: () => {
      fromMs = nowMs();
      open = true;
    },
    close: () => {
      open = false;
      sums.measuredMs = fromMs === undefined ? 0 : Math.round(nowMs() - fromMs);
    },
    // The last second is seldom whole.
    result: () => ({ ...sums, answered, failed, failures, perSecond: perSecond.slice(0, -1), lastWorkMs }),
  };
}
