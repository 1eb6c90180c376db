/** Judges the two runs together. Pure. */
import type { Tally } from "../load/load.ts";
import type { DrainSummary } from "./pod-end.ts";

export type Verdict = { readonly status: 0 | 1; readonly sentence: string };

type Evidence = {
  readonly without: Tally;
  readonly with: Tally;
  readonly summaries: readonly DrainSummary[];
  readonly propagationMs: number;
};

const UNREACHABLE =
  "Every request failed in both updates, so this shows nothing about lastcall: " +
  "check that the app listens on its first containerPort, on every address, and answers --path.";

export function verdictOf(evidence: Evidence): Verdict {
  const failed = evidence.with.failed;
  if (evidence.with.requests === 0) return { status: 1, sentence: "No request was made with lastcall." };
  if (failed === evidence.with.requests && evidence.without.failed === evidence.without.requests)
    return { status: 1, sentence: UNREACHABLE };
  const stayed = evidence.summaries.find((summary) => summary.outcome === "timeout" && summary.leftTotal > 0);
  if (failed > 0) {
    const count = failed === 1 ? "1 request" : `${failed} requests`;
    const why = stayed === undefined ? "That is not supposed to happen." : stayed.why;
    return { status: 1, sentence: `${count} failed with lastcall. ${why}` };
  }
  if (evidence.without.failed === 0 && evidence.propagationMs > 0)
    return { status: 1, sentence: "No request failed without lastcall either, so this run shows nothing." };
  const lost = evidence.without.failed;
  // Names clients that stayed to the deadline although none lost a request: that was luck.
  const luck = stayed === undefined ? "" : ` ${stayed.why}`;
  return {
    status: 0,
    sentence: `A rolling update lost ${lost} of ${evidence.without.requests} requests without lastcall and none of ${evidence.with.requests} with it.${luck}`,
  };
}
