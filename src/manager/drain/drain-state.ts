/** The state of a drain: one type per phase, and the fields of all phases. Times are monotonic milliseconds; -1 means "not yet". */
import type { DrainOutcome, DrainTrigger } from "../../contract/drain-report.ts";
import type { HookRole } from "../../contract/drain-settings.ts";
import type { Observation } from "../traffic/observation.ts";

export type DrainState = {
  readonly phase: Phase;
  readonly hooks: HookCalls;
  readonly relay: RelayStatus;
  readonly sample: LastSample;
  readonly count: LastCount;
  /** Whether SIGTERM was received. The manager then exits when the drain is over. */
  readonly isStopRequested: boolean;
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
  /** Time of the withdrawal, after which only the deregistration delay remains. */
  readonly deregistrationFromMs: number;
};

export type Draining = {
  readonly name: "draining";
  readonly drain: Drain;
  readonly deregistrationFromMs: number;
  readonly drainingFromMs: number;
  /** Number of open connections at the start of the phase; -1 if the sockets could not be read. */
  readonly openAtDraining: number;
  /** Whether EndpointSlices still listed the Pod as a ready endpoint at the start of the phase. */
  readonly wasStillListed: boolean;
  readonly cycling: CyclingWatch;
};

/** State of the watch on cycling connections; see `hand-over.ts`. */
export type CyclingWatch = {
  /** Number of cycling connections in the last sample. */
  readonly connectionCount: number;
  /** Start of the patience: the start of the phase, or the last sample with fewer cycling connections than the previous sample. */
  readonly sinceMs: number;
  /** Minimum number of outstanding responses near the end of the patience; -1 before that time. */
  readonly fewestOutstanding: number;
};

export type Holding = {
  readonly name: "holding";
  readonly drain: Drain;
  readonly result: DrainResult;
  /** Time from which only the mesh proxy has had TCP sockets. */
  readonly othersGoneSinceMs: number;
};

export type Done = {
  readonly name: "done";
  /** Undefined if no drain was needed at SIGTERM. */
  readonly drain: Drain | undefined;
  readonly result: DrainResult;
  readonly doneAtMs: number;
  /** Time of the sample that shows whether the Pod was stopped. */
  readonly rearmAtMs: number;
};

export type Drain = {
  readonly trigger: DrainTrigger;
  readonly triggeredAtMs: number;
  /** Never moves to a later time. A shorter grace period of the deletion moves it to an earlier time. */
  readonly deadlineMs: number;
};

export type DrainResult = {
  readonly outcome: DrainOutcome;
  readonly why: string;
  /** The last observation before the end of the drain. Later samples only decide when the remaining holds are released. */
  readonly observation: Observation;
  /** A skipped phase has the start time of the next phase. */
  readonly deregistrationFromMs: number;
  readonly drainingFromMs: number;
  readonly holdingFromMs: number;
  /** Whether the draining phase was reached, which starts the driver's drain. */
  readonly wasDraining: boolean;
  readonly openAtDraining: number;
  readonly wasStillListed: boolean;
};

export type Hold = {
  readonly id: number;
  readonly container: string;
  readonly role: HookRole | "drain";
  readonly peer: string;
  readonly atMs: number;
  /** Time from which an unconfirmed hook counts as a container restart; see `holdDueMs`. -1 for the manager's own preStop hook. */
  readonly dueMs: number;
  /** `hook-running`: the hold waits for the container's chained hook. */
  readonly stage: "held" | "hook-running";
};

/**
 * A container whose hook was called, even if the connection was closed afterwards. Until `endDueMs` all hooks of the container count as
 * one restart.
 */
export type EndingContainer = {
  readonly container: string;
  readonly role: HookRole;
  /** Time of the container's first hook. */
  readonly fromMs: number;
  /** Time of the container's last hook. */
  readonly atMs: number;
  readonly dueMs: number;
};

export type HookCalls = {
  readonly holds: readonly Hold[];
  readonly endingContainers: readonly EndingContainer[];
  /** Names of the containers with a chained hook. */
  readonly chained: readonly string[];
  /** Names of the containers whose chained hook is running. */
  readonly running: readonly string[];
  /** Names of the containers whose chained hook has finished in this drain. */
  readonly finished: readonly string[];
  /** Names of the containers whose chained hook was running for a restart when the drain started. The end of that run is ignored. */
  readonly runningBefore: readonly string[];
};

/** `in`: the relay found an EndpointSlice that has the Pod as a ready endpoint. `out`: no EndpointSlice has. */
export type EndpointState = "in" | "out" | "unknown";

export type RelayStatus = {
  readonly endpointState: EndpointState;
  readonly terminating: boolean;
  readonly reason: string;
  /** Whether the relay's last status reports that no connection was reset when the last Pods of the workload stopped. */
  readonly isGraceful: boolean;
  /** Time at which the manager started the relay client for this drain or restart. */
  readonly requestedAtMs: number;
  /** Time from `requestedAtMs` to the relay's first status. */
  readonly responseMs: number;
  /** Time at which the status `out` was received. */
  readonly withdrawnAtMs: number;
  /** `withdrawnAtMs`, or the time at which the status became `unknown`, if it was `unknown` directly before `out`. */
  readonly outFromMs: number;
  /** Time at which the status changed from `in` to `unknown`. */
  readonly silentFromMs: number;
};

export const NO_STATUS: RelayStatus = {
  endpointState: "unknown",
  terminating: false,
  reason: "",
  isGraceful: false,
  requestedAtMs: -1,
  responseMs: -1,
  withdrawnAtMs: -1,
  outFromMs: -1,
  silentFromMs: -1,
};

export type LastSample = {
  readonly observation: Observation;
  readonly atMs: number;
  readonly socketCount: number;
  readonly consecutiveBlindSamples: number;
  readonly wasReachable: boolean;
  /** Whether the app and the mesh proxy have the same user, so that their sockets cannot be distinguished. */
  readonly hasSharedUser: boolean;
};

export const NO_SAMPLE: LastSample = {
  observation: { known: false, why: "no sample was taken yet", blind: false },
  atMs: -1,
  socketCount: 0,
  consecutiveBlindSamples: 0,
  wasReachable: false,
  hasSharedUser: false,
};

export type LastCount = {
  readonly active: number;
  readonly zeroSinceMs: number;
  readonly atMs: number;
  /** Time of the last successful count, which proves that a proxy was running. */
  readonly countedAtMs: number;
  readonly isPending: boolean;
};

export const NO_COUNT: LastCount = { active: -1, zeroSinceMs: -1, atMs: -1, countedAtMs: -1, isPending: false };

export function idleState(chained: readonly string[]): DrainState {
  return {
    phase: { name: "idle", outcome: "none", why: "No drain has run." },
    hooks: { holds: [], endingContainers: [], chained, running: [], finished: [], runningBefore: [] },
    relay: NO_STATUS,
    sample: NO_SAMPLE,
    count: NO_COUNT,
    isStopRequested: false,
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
