/** What the manager obeys. The webhook resolves it at injection; the flags of `serve` carry it into the Pod. */
import type { DriverName } from "./driver-table.ts";

/** `app` is released when the drain ends; `mesh-proxy` when nothing else in the Pod has a TCP socket any more. */
export type HookRole = "app" | "mesh-proxy";

/** A container whose preStop hook is ours. */
export type HeldContainer = { readonly container: string; readonly role: HookRole };

/** One port the kubelet probes, and how often at most. Its connections are not traffic. */
export type KubeletProbe = { readonly port: number; readonly periodMs: number };

export type DrainedWhen = "auto" | "quiet" | "connections" | "requests" | "deadline";

/** Whether the app's processes, which load the library of `native/preload`, are told to send their clients away. */
export type Preload = "disabled" | "http1";

export type DrainSettings = {
  /** TCP port of the manager, 1024–65535. */
  readonly port: number;
  /** Floor: shortest time the Pod keeps serving after the trigger. */
  readonly drainDelayMs: number;
  /** Extra wait after endpoint withdrawal, for external load balancers. */
  readonly deregistrationDelayMs: number;
  /** Longest time given to open work after delay and deregistration. */
  readonly drainTimeoutMs: number;
  /** How long traffic must have been absent before it counts as gone. */
  readonly quietPeriodMs: number;
  /** What the containers had after SIGTERM before injection; never spent by the drain. */
  readonly appGraceMs: number;
  readonly drainedWhen: DrainedWhen;
  readonly driver: DriverName;
  /** Empty when not set, like the next two. */
  readonly driverUrl: string;
  readonly drainUrl: string;
  readonly activeUrl: string;
  /** Empty means: every TCP port listening on a non-loopback address, minus ours and the mesh's. */
  readonly drainPorts: readonly number[];
  readonly ignorePorts: readonly number[];
  readonly hooks: readonly HeldContainer[];
  readonly kubeletProbes: readonly KubeletProbe[];
  /** The Pod runs to completion (restartPolicy Never or OnFailure). */
  readonly completes: boolean;
  /** The manager is a regular container: its own preStop must outlast every hold. */
  readonly classic: boolean;
  readonly preload: Preload;
  /** Count only sockets of this local address; empty means all. For Pods that share a network namespace. */
  readonly addressScope: string;
};

export const DEFAULT_SETTINGS: DrainSettings = {
  port: 17_890,
  drainDelayMs: 5_000,
  deregistrationDelayMs: 0,
  drainTimeoutMs: 60_000,
  quietPeriodMs: 2_000,
  appGraceMs: 30_000,
  drainedWhen: "auto",
  driver: "none",
  driverUrl: "",
  drainUrl: "",
  activeUrl: "",
  drainPorts: [],
  ignorePorts: [],
  hooks: [],
  kubeletProbes: [],
  completes: false,
  classic: false,
  preload: "disabled",
  addressScope: "",
};
