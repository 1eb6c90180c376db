/** The manager's settings. The webhook resolves them at injection; the flags of `serve` carry them into the Pod. */
import type { DriverName } from "./driver-table.ts";

/** `app` is released when the drain ends; `mesh-proxy` when nothing else in the Pod has a TCP socket any more. */
export type HookRole = "app" | "mesh-proxy";

/** A container whose preStop hook is ours. */
export type HeldContainer = { readonly container: string; readonly role: HookRole };

/** One port the kubelet probes, and how often at most. Its connections are not traffic. */
export type KubeletProbe = { readonly port: number; readonly periodMs: number };

// generated: settings
export type DrainedWhen = "auto" | "quiet" | "connections" | "requests" | "deadline";
export type Preload = "disabled" | "http1";

export type DrainSettings = {
  /** The manager's port; if it collides, the next port up to 17989 is taken that the Pod neither declares nor probes. */
  readonly port: number;
  /** Shortest time the Pod keeps serving after it was told to end, for endpoint changes to reach every proxy. */
  readonly drainDelayMs: number;
  /** Extra wait after endpoint withdrawal, for external load balancers. */
  readonly deregistrationDelayMs: number;
  /** Longest time given to open work after the delays. */
  readonly drainTimeoutMs: number;
  /** How long traffic must have been absent before it counts as gone. */
  readonly quietPeriodMs: number;
  /** What the containers had after SIGTERM before injection; never spent by the drain. */
  readonly appGraceMs: number;
  /** What ends the drain. `auto`: no active requests where a driver counts them, else quiet. */
  readonly drainedWhen: DrainedWhen;
  /** Who speaks to a proxy or app that can drain itself. `auto` recognises images and container names. */
  readonly driver: DriverName;
  /** The proxy's admin address. */
  readonly driverUrl: string;
  /** Driver `http`: POSTed once when draining starts. */
  readonly drainUrl: string;
  /** Driver `http`: answers how many requests are active: a number, or after `#` a JSON pointer or a Prometheus sample. */
  readonly activeUrl: string;
  /** Empty means: every TCP port listening on a non-loopback address, minus ours and the mesh's. */
  readonly drainPorts: readonly number[];
  /** Ports whose traffic never counts. */
  readonly ignorePorts: readonly number[];
  /** The containers whose hooks are held, each with its role: `app`, or `mesh-proxy`, which is released after the apps. */
  readonly hooks: readonly HeldContainer[];
  /** Ports that the kubelet probes, and how often; these connections do not count as traffic. */
  readonly kubeletProbes: readonly KubeletProbe[];
  /** Whether the app's processes, which load the library of `native/preload`, send their clients away. */
  readonly preload: Preload;
  /** Count only sockets of this local address; empty means all. For Pods that share a network namespace. */
  readonly addressScope: string;
  /** The Pod runs to completion (restartPolicy Never or OnFailure). */
  readonly completes: boolean;
  /** The manager is a regular container: its own preStop must outlast every hold. */
  readonly classic: boolean;
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
  preload: "disabled",
  addressScope: "",
  completes: false,
  classic: false,
};
// end of settings
