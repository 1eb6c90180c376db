/** The report of a drain at any moment of it: for `status`, the log, and the answer of `drain`. Pure. */
import { type DrainReport, LEFT_LIMIT, type PhaseDurations } from "../../contract/drain-report.ts";
import type { DrainState } from "./drain-state.ts";
import { relayVerdictOf, withdrawnAfterMs } from "./withdrawal.ts";

/**
 * @param processes that have the flag page; -1 where there is none
 * @param missed those that asked for it and could not be given it
 */
export function drainReportOf(state: DrainState, nowMs: number, processes: number, missed: number): DrainReport {
  const seen = state.holdingFromMs < 0 ? state.observation : state.seenAtEnd;
  return {
    version: 1,
    phase: state.phase,
    outcome: state.outcome,
    trigger: state.trigger,
    milliseconds: durations(state, nowMs),
    left: seen.known ? seen.left.slice(0, LEFT_LIMIT) : [],
    leftTotal: seen.known ? seen.leftTotal : 0,
    witness: seen.known ? seen.witness : "none",
    why: state.why,
    relay: relayVerdictOf(state),
    withdrawnAfterMs: withdrawnAfterMs(state),
    farewell: processes < 0 ? undefined : { processes, missed, connections: state.openAtDraining },
    unfollowed: seen.known && seen.unfollowed > 0 ? seen.unfollowed : undefined,
  };
}

/** A phase that was never reached took nothing; one that still runs took what it took so far. */
function durations(state: DrainState, nowMs: number): PhaseDurations {
  const endMs = state.doneAtMs < 0 ? nowMs : state.doneAtMs;
  const holdingMs = state.holdingFromMs < 0 ? endMs : state.holdingFromMs;
  const drainingMs = state.drainingFromMs < 0 ? holdingMs : state.drainingFromMs;
  const deregistrationMs = state.deregistrationFromMs < 0 ? drainingMs : state.deregistrationFromMs;
  return {
    withdrawing: state.triggeredAtMs < 0 ? 0 : between(state.triggeredAtMs, deregistrationMs),
    deregistration: state.triggeredAtMs < 0 ? 0 : between(deregistrationMs, drainingMs),
    draining: state.triggeredAtMs < 0 ? 0 : between(drainingMs, holdingMs),
    holding: state.triggeredAtMs < 0 ? 0 : between(holdingMs, endMs),
  };
}

function between(fromMs: number, toMs: number): number {
  return Math.max(0, Math.round(toMs - fromMs));
}
