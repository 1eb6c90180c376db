/** Events of the drain's state machine, and the actions that the runner executes. */

import type { Observation } from "../traffic/observation.ts";
import type { OtherProcesses } from "../traffic/other-processes.ts";
import type { DrainState, EndpointState } from "./drain-state.ts";

export type Sample = {
  readonly observation: Observation;
  readonly otherProcesses: OtherProcesses;
  readonly socketCount: number;
};

export type HookCalled = {
  readonly kind: "hook-called";
  readonly nowMs: number;
  readonly holdId: number;
  readonly container: string;
  /** Client address. Unless it is an address of the Pod, it may be the kubelet's. */
  readonly peer: string;
};

export type RelayReported = {
  readonly kind: "relay-reported";
  readonly nowMs: number;
  readonly endpointState: EndpointState;
  readonly terminating: boolean;
  /** Grace period of the Pod's deletion in seconds; -1 if the relay may not read the Pod. */
  readonly graceSeconds: number;
  /** Reason for the status `unknown`. */
  readonly reason: string;
  /** Whether the workload's last Pods stopped without the reset of a connection. */
  readonly isGraceful: boolean;
  /** False if the status is from the relay client or the manager instead of the relay. */
  readonly isFromRelay: boolean;
};

export type DrainEvent =
  | HookCalled
  | RelayReported
  /** The manager's own preStop hook: the Pod is terminating. */
  | { readonly kind: "drain-requested"; readonly nowMs: number; readonly holdId: number }
  /** The connection of a hold was closed by the client. The drain continues. */
  | { readonly kind: "client-disconnected"; readonly nowMs: number; readonly holdId: number }
  | { readonly kind: "chained-hook-finished"; readonly nowMs: number; readonly container: string }
  | { readonly kind: "tick"; readonly nowMs: number; readonly sample: Sample | undefined }
  /** `active`: -1 or `NO_RESPONSE` if the driver could not count. `hadTraffic`: whether there was traffic since the last count. */
  | { readonly kind: "active-counted"; readonly nowMs: number; readonly active: number; readonly hadTraffic: boolean }
  | { readonly kind: "sigterm"; readonly nowMs: number };

export type DrainAction =
  /** Logs the start of a phase. One step can pass several phases, so `enteredState` is the state at the start of this phase. */
  | { readonly kind: "entered"; readonly enteredState: DrainState }
  | { readonly kind: "answer"; readonly holdId: number }
  /** Runs the container's own preStop hook; the event `chained-hook-finished` follows. */
  | { readonly kind: "run-chained-hook"; readonly container: string }
  | { readonly kind: "start-driver-drain" }
  | { readonly kind: "cancel-driver-drain" }
  | { readonly kind: "count-active" }
  | { readonly kind: "add-kubelet-address"; readonly address: string }
  | { readonly kind: "exit"; readonly code: number };

/** Times of the next tick and of the next sample; -1 for none. */
export type Wake = { readonly wakeAtMs: number; readonly sampleAtMs: number };

export type Step = {
  readonly state: DrainState;
  readonly actions: readonly DrainAction[];
  readonly wakeAtMs: number;
  readonly sampleAtMs: number;
};
