/** Settings of the manager. Injection resolves them and writes them as flags of `serve`. */
import type { DriverName } from "./driver-table.ts";

/**
 * Determines when the manager answers the container's hook: `app` when the drain ends, `mesh-proxy` when no other process of the Pod
 * has a TCP socket.
 */
export type HookRole = "app" | "mesh-proxy";

export type HeldContainer = { readonly container: string; readonly role: HookRole };

/** A port that the kubelet probes; connections of probes are not traffic. */
export type KubeletProbe = { readonly port: number; readonly periodMs: number };

// generated: settings
export type Shutdown = "auto" | "graceful" | "abrupt";
export type DrainedWhen = "auto" | "quiet" | "connections" | "requests" | "deadline";
export type Preload = "disabled" | "http1";

export type DrainSettings = {
  /** Port of the manager. If a container port or a probe of the Pod uses this port, the next free port up to 17989 is used. */
  readonly port: number;
  /** Minimum time the Pod keeps serving after its deletion, so that endpoint changes reach every proxy. */
  readonly drainDelayMs: number;
  /** Additional wait after the Pod's withdrawal from EndpointSlices, for external load balancers. */
  readonly deregistrationDelayMs: number;
  /** Maximum time for open requests after the drain delay and the deregistration delay. */
  readonly drainTimeoutMs: number;
  /** Time without traffic after which the traffic counts as ended. */
  readonly quietPeriodMs: number;
  /** Maximum time for which the drain waits for clients that only keep sending requests on open connections; it starts again when one of these connections closes. */
  readonly patienceMs: number;
  /** With `graceful` the app finishes its requests and closes its connections at its stop signal, so the patience is 0. */
  readonly shutdown: Shutdown;
  /** Grace period of the Pod before injection: the containers' time after SIGTERM, which the drain never uses. */
  readonly appGraceMs: number;
  /** Condition that ends the drain. `auto`: `requests` if a driver counts the active requests, otherwise `quiet`. */
  readonly drainedWhen: DrainedWhen;
  /** Driver for a proxy or app that can drain itself. `auto` recognises images and container names. */
  readonly driver: DriverName;
  /** Address of the admin interface at which the driver calls the proxy. */
  readonly driverUrl: string;
  /** Driver `http`: URL to which the manager sends one POST when the draining phase starts. */
  readonly drainUrl: string;
  /** Driver `http`: URL that returns the number of active requests, as plain text or as the value that a JSON pointer or Prometheus sample after `#` selects. */
  readonly activeUrl: string;
  /** Empty: all TCP ports that listen on a non-loopback address, except the manager's and the mesh's. */
  readonly drainPorts: readonly number[];
  /** Ports whose connections do not delay the drain. */
  readonly ignorePorts: readonly number[];
  /** Containers with a hook of lastcall, each with its role: `app`, or `mesh-proxy`, which gets its stop signal after the apps have exited. */
  readonly hooks: readonly HeldContainer[];
  /** Ports that the kubelet probes while the Pod terminates, with the period; these connections do not count as traffic. */
  readonly kubeletProbes: readonly KubeletProbe[];
  /** Whether the app's processes load the library of `native/preload`, which closes keep-alive connections of clients. */
  readonly preload: Preload;
  /** Count only sockets of this local address; empty means all. For Pods that share a network namespace. */
  readonly addressScope: string;
  /** Whether the Pod runs to completion (restartPolicy Never or OnFailure). */
  readonly completes: boolean;
  /** Whether the manager is a regular container, whose own preStop hook has to run until all other hooks have been answered. */
  readonly classic: boolean;
};

export const DEFAULT_SETTINGS: DrainSettings = {
  port: 17_890,
  drainDelayMs: 5_000,
  deregistrationDelayMs: 0,
  drainTimeoutMs: 60_000,
  quietPeriodMs: 2_000,
  patienceMs: 10_000,
  shutdown: "auto",
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
