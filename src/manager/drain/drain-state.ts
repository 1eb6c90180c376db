/** The state of a drain: one type per phase, and the fields of all phases. Times are monotonic milliseconds; -1 is "not yet". */
import type { DrainOutcome, DrainTrigger } from "../../contract/drain-report.ts";
import type { HookRole } from "../../contract/drain-settings.ts";
import type { Observation } from "../traffic/observation.ts";

export type DrainState = {
  readonly phase: Phase;
  readonly hooks: HookCalls;
  readonly relay: RelayStatus;
  readonly sample: LastSample;
  readonly count: LastCount;
  /** SIGTERM was received: exit when the drain is over. */
  readonly stopRequested: boolean;
};

export type Phase = Idle | Withdrawing | Draining | Holding | Done;

export type Idle = {
  readonly name: "idle";
  readonly outcome: DrainOutcome;
  readonly why: string;
};

export type Withdrawing = {
  readonly name: "withdrawing";
  readonly drain: Drain;
  /** Time of the withdrawal, after which only the deregistration delay is left. */
  readonly deregistrationFromMs: number;
};

export type Draining = {
  readonly name: "draining";
  readonly drain: Drain;
  readonly deregistrationFromMs: number;
  readonly drainingFromMs: number;
  /** Open connections at that time; -1 if the sockets could not be read. */
  readonly openAtDraining: number;
  /** EndpointSlices still listed the Pod as serving. */
  readonly stillInRotation: boolean;
};

export type Holding = {
  readonly name: "holding";
  readonly drain: Drain;
  readonly result: DrainResult;
  /** Since when no process but the mesh proxy has had a TCP socket. */
  readonly othersGoneSinceMs: number;
};

export type Done = {
  readonly name: "done";
  /** Undefined if SIGTERM found nothing to drain. */
  readonly drain: Drain | undefined;
  readonly result: DrainResult;
  readonly doneAtMs: number;
  /** Time of the sample that shows whether the Pod stays. */
  readonly rearmAtMs: number;
};

export type Drain = {
  readonly trigger: DrainTrigger;
  readonly triggeredAtMs: number;
  /** Only a shortened grace period moves it, and only earlier. */
  readonly deadlineMs: number;
};

export type DrainResult = {
  readonly outcome: DrainOutcome;
  readonly why: string;
  /** The last sample before the end of the drain; later samples only serve calls that are still held. */
  readonly observation: Observation;
  /** A skipped phase starts at the time of the next one. */
  readonly deregistrationFromMs: number;
  readonly drainingFromMs: number;
  readonly holdingFromMs: number;
  /** The draining phase was reached, so the driver's drain was started. */
  readonly wasDraining: boolean;
  readonly openAtDraining: number;
  readonly stillInRotation: boolean;
};

export type Hold = {
  readonly id: number;
  readonly container: string;
  readonly role: HookRole | "drain";
  readonly peer: string;
  readonly atMs: number;
  /** From then on, an unconfirmed call counts as a restart; see `holdDueMs`. -1 for the manager's own preStop hook. */
  readonly dueMs: number;
  /** `hook-running`: the container's chained hook runs before the answer. */
  readonly stage: "held" | "hook-running";
};

/**
 * A container whose hook was called; kept even if the connection is closed. Further calls do not extend it beyond `endDueMs`,
 * and count as one restart.
 */
export type EndingContainer = {
  readonly container: string;
  readonly role: HookRole;
  readonly fromMs: number;
  readonly atMs: number;
  readonly dueMs: number;
};

export type HookCalls = {
  readonly holds: readonly Hold[];
  readonly ending: readonly EndingContainer[];
  readonly chained: readonly string[];
  readonly running: readonly string[];
  readonly finished: readonly string[];
  /** Containers whose chained hook was running for a restart when the drain started: its end does not count. */
  readonly runningBefore: readonly string[];
};

/** Whether any EndpointSlice lists the Pod as serving, as the relay reports it. */
export type Offered = "in" | "out" | "unknown";

export type RelayStatus = {
  readonly offered: Offered;
  readonly terminating: boolean;
  readonly reason: string;
  /** The first request for this drain or restart. */
  readonly askedAtMs: number;
  readonly answerMs: number;
  /** Time of the report that the Pod is out of rotation. */
  readonly withdrawnAtMs: number;
  /** The same, or the start of a silence before that report. */
  readonly outFromMs: number;
  /** Start of a silence while the Pod was in rotation. */
  readonly silentFromMs: number;
};

export const NO_STATUS: RelayStatus = {
  offered: "unknown",
  terminating: false,
  reason: "",
  askedAtMs: -1,
  answerMs: -1,
  withdrawnAtMs: -1,
  outFromMs: -1,
  silentFromMs: -1,
};

export type LastSample = {
  readonly observation: Observation;
  readonly atMs: number;
  readonly sockets: number;
  readonly blindInARow: number;
  readonly wasReachable: boolean;
  /** The app has the proxy's user, so their sockets cannot be distinguished. */
  readonly sharedUser: boolean;
};

export const NO_SAMPLE: LastSample = {
  observation: { known: false, why: "no sample was taken yet", blind: false },
  atMs: -1,
  sockets: 0,
  blindInARow: 0,
  wasReachable: false,
  sharedUser: false,
};

export type LastCount = {
  readonly active: number;
  readonly zeroSinceMs: number;
  readonly atMs: number;
  /** Time of the last successful count, which proves that a proxy was running. */
  readonly knownAtMs: number;
  readonly pending: boolean;
};

export const NO_COUNT: LastCount = { active: -1, zeroSinceMs: -1, atMs: -1, knownAtMs: -1, pending: false };

export function idleState(chained: readonly string[]): DrainState {
  return {
    phase: { name: "idle", outcome: "none", why: "No drain has run." },
    hooks: { holds: [], ending: [], chained, running: [], finished: [], runningBefore: [] },
    relay: NO_STATUS,
    sample: NO_SAMPLE,
    count: NO_COUNT,
    stopRequested: false,
  };
}

export function drainOf(phase: Phase): Drain | undefined {
  switch (phase.name) {
    case "withdrawing":
      return phase.drain;
    case "draining":
      return phase.drain;
    case "holding":
      return phase.drain;
    case "done":
      return phase.drain;
    default:
      return undefined;
  }
}

export function resultOf(phase: Phase): DrainResult | undefined {
  if (phase.name === "holding") return phase.result;
  return phase.name === "done" ? phase.result : undefined;
}
