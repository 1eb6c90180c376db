/** Everything the drain machine remembers. Times are monotonic milliseconds; -1 means "not yet". */
import type { DrainOutcome, DrainTrigger, PhaseName } from "../../contract/drain-report.ts";
import type { HookRole } from "../../contract/drain-settings.ts";
import type { Observation } from "../traffic/observation.ts";

/** Whether any EndpointSlice still offers the Pod, as the relay tells it. */
export type Offered = "in" | "out" | "unknown";

export type RelayKnows = {
  readonly offered: Offered;
  readonly terminating: boolean;
  readonly reason: string;
  /** When it was first asked in this story. */
  readonly askedAtMs: number;
  /** How long its first answer took; -1 before there is one, whatever is known of the way to it. */
  readonly answerMs: number;
};

export const NOTHING_KNOWN: RelayKnows = {
  offered: "unknown",
  terminating: false,
  reason: "",
  askedAtMs: -1,
  answerMs: -1,
};

/** A call that has not been answered: a container's hook, or the manager's own preStop (role `drain`). */
export type Hold = {
  readonly id: number;
  /** Empty for the manager's own preStop. */
  readonly container: string;
  readonly role: HookRole | "drain";
  readonly peer: string;
  readonly atMs: number;
  /** Before then silence does not make it a restart; see `holdDueMs`. -1 for the manager's own preStop. */
  readonly dueMs: number;
  /** `performing`: the container's own hook runs before the answer. */
  readonly stage: "held" | "performing";
};

/**
 * That hooks of a container came; remembered even when their connections vanished. However many calls come meanwhile,
 * it is over at `joinDueMs`, and told once.
 */
export type Join = {
  readonly container: string;
  readonly role: HookRole;
  readonly fromMs: number;
  /** The latest of its hooks. */
  readonly atMs: number;
  readonly dueMs: number;
};

export type DrainState = {
  readonly phase: PhaseName;
  readonly outcome: DrainOutcome;
  readonly trigger: DrainTrigger;
  readonly holds: readonly Hold[];
  readonly joins: readonly Join[];
  /** Containers whose own hook is performed before their hold is answered. */
  readonly chained: readonly string[];
  /** Of these, whose hook runs now, whether or not a hold still waits for it. */
  readonly performing: readonly string[];
  /** Of these, whose hook was performed in this drain. */
  readonly performed: readonly string[];
  /** Whose hook a restart had begun to perform when the drain began: its end says nothing of this drain. */
  readonly performingBefore: readonly string[];
  readonly triggeredAtMs: number;
  /** Fixed at the trigger; only a shortened grace period or SIGTERM moves it, and only earlier. */
  readonly deadlineMs: number;
  /** The relay's last word, and why where it is unknown; empty while none was asked. */
  readonly relay: RelayKnows;
  /** When the relay knew the Pod out of rotation. */
  readonly withdrawnAtMs: number;
  /** From when on it counts as out: then, or when a silence began after which the relay knew it. */
  readonly outFromMs: number;
  /** A relay that said the Pod was offered fell silent then; -1 when none did. */
  readonly withheldUntilMs: number;
  readonly stillInRotation: boolean;
  readonly deregistrationFromMs: number;
  readonly drainingFromMs: number;
  /** Connections that were open at that time; -1 where they could not be seen. */
  readonly openAtDraining: number;
  readonly holdingFromMs: number;
  readonly doneAtMs: number;
  /** When a finished drain looks whether the Pod lives on after all. */
  readonly rearmAtMs: number;
  readonly observation: Observation;
  readonly lookedAtMs: number;
  /** How many sockets the last look had to read. */
  readonly lookedAtSockets: number;
  /** Looks in a row, up to the last one, at which no source could be read. */
  readonly blindLooks: number;
  /** Something in the Pod could be reached at some moment of this drain. */
  readonly listened: boolean;
  /** What was seen when the drain ended; later looks only serve who is still held. */
  readonly seenAtEnd: Observation;
  /** Since when no other process than the mesh proxy has had a TCP socket. */
  readonly othersGoneSinceMs: number;
  /** The app runs as the proxy's user, so their sockets cannot be told apart. */
  readonly sharedUser: boolean;
  readonly active: number;
  readonly activeZeroSinceMs: number;
  readonly countedAtMs: number;
  /** The last count that the driver knew: a proxy was there at that time. */
  readonly knownCountAtMs: number;
  /** A question to the driver is under way. */
  readonly counting: boolean;
  /** SIGTERM came; leave when the drain is over. */
  readonly stopAsked: boolean;
  readonly why: string;
};

export const NOT_LOOKED: Observation = { known: false, why: "nothing was looked at yet", blind: false };

export function idleState(chained: readonly string[]): DrainState {
  return {
    phase: "idle",
    outcome: "none",
    trigger: "none",
    holds: [],
    joins: [],
    chained,
    performing: [],
    performed: [],
    performingBefore: [],
    triggeredAtMs: -1,
    deadlineMs: -1,
    relay: NOTHING_KNOWN,
    withdrawnAtMs: -1,
    outFromMs: -1,
    withheldUntilMs: -1,
    stillInRotation: false,
    deregistrationFromMs: -1,
    drainingFromMs: -1,
    openAtDraining: -1,
    holdingFromMs: -1,
    doneAtMs: -1,
    rearmAtMs: -1,
    observation: NOT_LOOKED,
    lookedAtMs: -1,
    lookedAtSockets: 0,
    blindLooks: 0,
    listened: false,
    seenAtEnd: NOT_LOOKED,
    othersGoneSinceMs: -1,
    sharedUser: false,
    active: -1,
    activeZeroSinceMs: -1,
    countedAtMs: -1,
    knownCountAtMs: -1,
    counting: false,
    stopAsked: false,
    why: "No drain has run.",
  };
}
