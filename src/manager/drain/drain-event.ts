/** What the drain machine hears and what it asks for. Plain data both ways; the runner does the rest. */
import type { PhaseName } from "../../contract/drain-report.ts";
import type { Neighbours } from "../traffic/neighbours.ts";
import type { Observation } from "../traffic/observation.ts";
import type { DrainState, Offered } from "./drain-state.ts";

/** One look at the Pod's sockets, judged. `sockets`: how many were read, -1 where the reading failed. */
export type Look = { readonly observation: Observation; readonly neighbours: Neighbours; readonly sockets: number };

export type HookJoined = {
  readonly kind: "hook-joined";
  readonly nowMs: number;
  readonly holdId: number;
  readonly container: string;
  /** Address of the caller; the kubelet's, when it is no address of the Pod. */
  readonly peer: string;
};

export type RelaySaid = {
  readonly kind: "relay-said";
  readonly nowMs: number;
  readonly offered: Offered;
  readonly terminating: boolean;
  /** The Pod's real grace period in seconds; -1 when the relay may not know it. */
  readonly graceSeconds: number;
  /** Why, where it is unknown. */
  readonly reason: string;
  /** The relay said it, and not only who asks it. */
  readonly answered: boolean;
};

export type DrainEvent =
  | HookJoined
  | RelaySaid
  /** The manager's own preStop: the Pod is terminating. */
  | { readonly kind: "drain-asked"; readonly nowMs: number; readonly holdId: number }
  /** The connection of a hold is gone. The drain goes on. */
  | { readonly kind: "caller-left"; readonly nowMs: number; readonly holdId: number }
  | { readonly kind: "chain-performed"; readonly nowMs: number; readonly container: string }
  | { readonly kind: "tick"; readonly nowMs: number; readonly look: Look | undefined }
  /** Below 0 when the driver does not know, `NOT_ANSWERED` among these. `moved`: there was traffic since the last count, whatever is active now. */
  | { readonly kind: "active-counted"; readonly nowMs: number; readonly active: number; readonly moved: boolean }
  | { readonly kind: "sigterm"; readonly nowMs: number };

export type DrainAction =
  /** Tells the log. A drain can pass several phases in one step: `at` is how it stood when this one began. */
  | { readonly kind: "entered"; readonly phase: PhaseName; readonly at: DrainState }
  | { readonly kind: "answer"; readonly holdId: number }
  /** Perform the container's own preStop hook, then report `chain-performed`. */
  | { readonly kind: "perform-chain"; readonly container: string }
  | { readonly kind: "tell-driver" }
  /** The Pod lives on after its drain. */
  | { readonly kind: "tell-staying" }
  /** Ask the driver, then report `active-counted`. */
  | { readonly kind: "count-active" }
  | { readonly kind: "learn-kubelet"; readonly address: string }
  | { readonly kind: "exit"; readonly code: number };

export type Step = {
  readonly state: DrainState;
  readonly actions: readonly DrainAction[];
  /** When the next `tick` is wanted, and from when on it is to carry a look; -1 for never. */
  readonly wakeAtMs: number;
  readonly lookAtMs: number;
};
