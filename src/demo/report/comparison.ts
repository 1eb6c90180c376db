/** Compares the rolling updates. Pure. */
import type { RequestCounts } from "../load/load.ts";
import type { DrainSummary } from "./pod-end.ts";

export type Comparison = { readonly exitStatus: 0 | 1; readonly sentence: string };

/** Duration of the preStop sleep with which lastcall is compared; equal to the default drain delay. */
export const SLEEP_SECONDS = 5;

type RunResults = {
  readonly without: RequestCounts;
  /** The update with a preStop hook that sleeps; `undefined` if it was not requested. */
  readonly sleep?: RequestCounts | undefined;
  readonly with: RequestCounts;
  readonly summaries: readonly DrainSummary[];
  readonly propagationMs: number;
};

const UNREACHABLE =
  "Every request failed in both updates, so this run proves nothing. " +
  "Check that the app listens on its first containerPort on all addresses and serves the path of --path.";

const NO_FAILURES =
  "No request failed without lastcall either, so this run proves nothing; run it with a longer --propagation.";

export function compareRuns(runs: RunResults): Comparison {
  const failedCount = runs.with.failed;
  if (runs.with.requests === 0)
    return { exitStatus: 1, sentence: "No request was sent during the update with lastcall; run the demo again." };
  if (failedCount === runs.with.requests && runs.without.failed === runs.without.requests)
    return { exitStatus: 1, sentence: UNREACHABLE };
  // Clients that were connected at the stop signal could have lost a request.
  const riskyDrain = runs.summaries.find(
    ({ outcome, leftTotal }) => (outcome === "timeout" || outcome === "handed-over") && leftTotal > 0,
  );
  const { sleep } = runs;
  const sleepText =
    sleep === undefined
      ? ""
      : ` The update with preStop: sleep ${SLEEP_SECONDS} lost ${sleep.failed} of ${sleep.requests} requests.`;
  if (failedCount > 0) {
    const failedText = failedCount === 1 ? "1 request" : `${failedCount} requests`;
    const reason = riskyDrain === undefined ? "Please report this as a bug." : riskyDrain.why;
    return { exitStatus: 1, sentence: `${failedText} failed with lastcall. ${reason}${sleepText}` };
  }
  if (runs.without.failed === 0 && runs.propagationMs > 0) return { exitStatus: 1, sentence: NO_FAILURES };
  const lostCount = runs.without.failed;
  const riskText = riskyDrain === undefined ? "" : ` ${riskyDrain.why}`;
  return {
    exitStatus: 0,
    sentence: `A rolling update lost ${lostCount} of ${runs.without.requests} requests without lastcall and none of ${runs.with.requests} with it.${sleepText}${riskText}`,
  };
}
