/** Builds the report of a drain at any time: for `status`, the log, and the response to `drain`. Pure. */
import { type DrainReport, LEFT_LIMIT, type PhaseDurations } from "../../contract/drain-report.ts";
import { type DrainState, drainOf, type Phase, type RelayStatus, resultOf } from "./drain-state.ts";

/**
 * @param processes number of preloaded processes that received the memory page with the drain flag; -1 without preload
 * @param missed number of preloaded processes that requested that page and did not receive it
 */
export function drainReportOf(state: DrainState, nowMs: number, processes: number, missed: number): DrainReport {
  const { phase, relay } = state;
  const observation = resultOf(phase)?.observation ?? state.sample.observation;
  return {
    version: 1,
    phase: phase.name,
    outcome: outcomeOf(phase),
    trigger: drainOf(phase)?.trigger ?? "none",
    milliseconds: durationsOf(phase, nowMs),
    left: observation.known ? observation.left.slice(0, LEFT_LIMIT) : [],
    leftTotal: observation.known ? observation.leftTotal : 0,
    evidenceSource: observation.known ? observation.evidenceSource : "none",
    why: whyOf(phase),
    relay: relayText(relay, phase),
    withdrawnAfterMs: withdrawnAfterMs(relay, phase),
    preload: processes < 0 ? undefined : { processes, missed, connections: openAtDraining(phase) },
    untracked: observation.known && observation.untracked > 0 ? observation.untracked : undefined,
  };
}

export function outcomeOf(phase: Phase): DrainReport["outcome"] {
  return resultOf(phase)?.outcome ?? (phase.name === "idle" ? phase.outcome : "none");
}

export function whyOf(phase: Phase): string {
  return resultOf(phase)?.why ?? (phase.name === "idle" ? phase.why : "");
}

function openAtDraining(phase: Phase): number {
  return resultOf(phase)?.openAtDraining ?? (phase.name === "draining" ? phase.openAtDraining : -1);
}

/** One of `none`, `withdrawn`, `offered`, `not_terminating`, or `unknown: REASON`. */
export function relayText(relay: RelayStatus, phase: Phase): string {
  if (relay.endpointState === "out") return "withdrawn";
  if (relay.endpointState === "in") return isNotTerminating(phase) ? "not_terminating" : "offered";
  return relay.reason === "" ? "none" : `unknown: ${relay.reason}`;
}

function isNotTerminating(phase: Phase): boolean {
  return resultOf(phase)?.wasStillListed ?? (phase.name === "draining" && phase.wasStillListed);
}

export function withdrawnAfterMs(relay: RelayStatus, phase: Phase): number {
  const drain = drainOf(phase);
  if (relay.withdrawnAtMs < 0 || drain === undefined) return -1;
  return Math.max(0, Math.round(relay.withdrawnAtMs - drain.triggeredAtMs));
}

/** Phases that were not reached have the duration 0. The current phase lasts until now. */
function durationsOf(phase: Phase, nowMs: number): PhaseDurations {
  const drain = drainOf(phase);
  if (drain === undefined) return { withdrawing: 0, deregistration: 0, draining: 0, holding: 0 };
  const endMs = phase.name === "done" ? phase.doneAtMs : nowMs;
  const times = timesOf(phase, endMs);
  return {
    withdrawing: spanMs(drain.triggeredAtMs, times.deregistrationFromMs),
    deregistration: spanMs(times.deregistrationFromMs, times.drainingFromMs),
    draining: spanMs(times.drainingFromMs, times.holdingFromMs),
    holding: spanMs(times.holdingFromMs, endMs),
  };
}

type PhaseTimes = {
  readonly deregistrationFromMs: number;
  readonly drainingFromMs: number;
  readonly holdingFromMs: number;
};

function timesOf(phase: Phase, endMs: number): PhaseTimes {
  if (phase.name === "withdrawing") {
    const deregistrationFromMs = phase.deregistrationFromMs < 0 ? endMs : phase.deregistrationFromMs;
    return { deregistrationFromMs, drainingFromMs: endMs, holdingFromMs: endMs };
  }
  if (phase.name === "draining") {
    const { deregistrationFromMs, drainingFromMs } = phase;
    return { deregistrationFromMs, drainingFromMs, holdingFromMs: endMs };
  }
  const result = resultOf(phase);
  if (result === undefined) return { deregistrationFromMs: endMs, drainingFromMs: endMs, holdingFromMs: endMs };
  const { deregistrationFromMs, drainingFromMs, holdingFromMs } = result;
  return { deregistrationFromMs, drainingFromMs, holdingFromMs };
}

function spanMs(fromMs: number, toMs: number): number {
  return Math.max(0, Math.round(toMs - fromMs));
}
