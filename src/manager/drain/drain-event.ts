/** Events of the drain machine, and the actions that the runner executes. */

import type { Observation } from "../traffic/observation.ts";
import type { OtherProcesses } from "../traffic/other-processes.ts";
import type { DrainState, Offered } from "./drain-state.ts";

export type Sample = {
  readonly observation: Observation;
  readonly otherProcesses: OtherProcesses;
  readonly sockets: number;
};

export type HookCalled = {
  readonly kind: "hook-called";
  readonly nowMs: number;
  readonly holdId: number;
  readonly container: string;
  /** Client address: the kubelet's, unless it is an address of the Pod. */
  readonly peer: string;
};

export type RelayReported = {
  readonly kind: "relay-reported";
  readonly nowMs: number;
  readonly offered: Offered;
  readonly terminating: boolean;
  /** The Pod's real grace period in seconds; -1 if the relay may not read it. */
  readonly graceSeconds: number;
  /** Reason of the status unknown. */
  readonly reason: string;
  /** False if the status comes from the relay client and not from the relay. */
  readonly answered: boolean;
};

export type DrainEvent =
  | HookCalled
  | RelayReported
  /** The manager's own preStop hook: the Pod is terminating. */
  | { readonly kind: "drain-requested"; readonly nowMs: number; readonly holdId: number }
  /** The connection of a hold was closed. The drain continues. */
  | { readonly kind: "caller-left"; readonly nowMs: number; readonly holdId: number }
  | { readonly kind: "chained-hook-finished"; readonly nowMs: number; readonly container: string }
  | { readonly kind: "tick"; readonly nowMs: number; readonly sample: Sample | undefined }
  /** `active`: negative if the driver could not count, `NOT_ANSWERED` included. `moved`: there was traffic since the last count. */
  | { readonly kind: "active-counted"; readonly nowMs: number; readonly active: number; readonly moved: boolean }
  | { readonly kind: "sigterm"; readonly nowMs: number };

export type DrainAction =
  /** For the log. One step can pass several phases; `at` is the state on entering this one. */
  | { readonly kind: "entered"; readonly at: DrainState }
  | { readonly kind: "answer"; readonly holdId: number }
  /** Run the container's own preStop hook, then report `chained-hook-finished`. */
  | { readonly kind: "run-chained-hook"; readonly container: string }
  | { readonly kind: "start-driver-drain" }
  | { readonly kind: "cancel-driver-drain" }
  | { readonly kind: "count-active" }
  | { readonly kind: "learn-kubelet"; readonly address: string }
  | { readonly kind: "exit"; readonly code: number };

export type Wake = { readonly wakeAtMs: number; readonly sampleAtMs: number };

export type Step = {
  readonly state: DrainState;
  readonly actions: readonly DrainAction[];
  readonly wakeAtMs: number;
  readonly sampleAtMs: number;
};
