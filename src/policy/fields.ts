/**
 * Declares every setting of a Pod: name, codec, default, scopes, summary, and the manager's flag. `npm run generate` writes the
 * manager's settings and flags (`contract/drain-settings.ts`, `contract/manager-flags.ts`), the reference, and the schemas.
 */
import { DRIVERS, type DriverName } from "../contract/driver-table.ts";
import {
  appUrl,
  driverUrl,
  durationMs,
  nameList,
  oneOf,
  portList,
  profileName,
  runAsUser,
  unprivilegedPort,
} from "./codecs.ts";
import { type DerivedRow, derived, type Row, setting } from "./field-rows.ts";
import { managerResources } from "./resources-codec.ts";

export const PREFIX = "lastcall.dev/";

/** In the order of the reference and of the manager's flags. An empty string or list means that the setting is not set. */
const TABLE = {
  inject: setting({
    name: "inject",
    codec: oneOf("enabled", "disabled"),
    fallback: "enabled",
    fallbackDescription: "from the namespace",
    scopes: ["pod", "namespace"],
    summary:
      "Opts in to injection or out of it; on a Pod as label or annotation, on a namespace as label. `disabled` on the Pod always wins.",
  }),
  mode: setting({
    name: "mode",
    codec: oneOf("auto", "sidecar", "native", "classic", "sleep"),
    fallback: "auto",
    summary: "What injection adds: the manager as native sidecar or classic container, or only a `sleep` hook.",
  }),
  port: setting({
    name: "port",
    codec: unprivilegedPort,
    fallback: 17_890,
    summary:
      "Port of the manager. If a container port or a probe of the Pod uses this port, the next free port up to 17989 is used.",
    manager: { kind: "port" },
  }),
  drainDelayMs: setting({
    name: "drain-delay",
    codec: durationMs,
    fallback: 5_000,
    summary: "Minimum time the Pod keeps serving after its deletion, so that endpoint changes reach every proxy.",
    manager: { kind: "duration" },
  }),
  deregistrationDelayMs: setting({
    name: "deregistration-delay",
    codec: durationMs,
    fallback: 0,
    summary: "Additional wait after the Pod's withdrawal from EndpointSlices, for external load balancers.",
    manager: { kind: "duration" },
  }),
  drainTimeoutMs: setting({
    name: "drain-timeout",
    codec: durationMs,
    fallback: 60_000,
    summary: "Maximum time for open requests after the drain delay and the deregistration delay.",
    manager: { kind: "duration" },
  }),
  quietPeriodMs: setting({
    name: "quiet-period",
    codec: durationMs,
    fallback: 2_000,
    summary: "Time without traffic after which the traffic counts as ended.",
    manager: { kind: "duration" },
  }),
  patienceMs: setting({
    name: "patience",
    codec: durationMs,
    fallback: 10_000,
    summary:
      "Maximum time for which the drain waits for clients that only keep sending requests on open connections; it starts again when one of these connections closes.",
    manager: { kind: "duration" },
  }),
  shutdown: setting({
    name: "shutdown",
    codec: oneOf("auto", "graceful", "abrupt"),
    fallback: "auto",
    summary:
      "Whether the app finishes its requests and closes its connections at its stop signal. `graceful`: the patience is 0. `auto`: the patience is 0 for some programs, and after three Pods of the workload that did not reset a connection when they stopped.",
    manager: {
      kind: "choice",
      writeCondition: "when-set",
      comment:
        "With `graceful` the app finishes its requests and closes its connections at its stop signal, so the patience is 0.",
    },
  }),
  appGraceMs: derived(
    "app-grace",
    "duration",
    30_000,
    "Grace period of the Pod before injection: the containers' time after SIGTERM, which the drain never uses.",
  ),
  drainedWhen: setting({
    name: "drained-when",
    codec: oneOf("auto", "quiet", "connections", "requests", "deadline"),
    fallback: "auto",
    summary:
      "Condition that ends the drain. `auto`: `requests` if a driver counts the active requests, otherwise `quiet`.",
    manager: { kind: "choice" },
  }),
  driver: setting({
    name: "driver",
    codec: oneOf<"auto" | DriverName>("auto", ...DRIVERS.map(({ name }) => name)),
    fallback: "auto",
    summary: "Driver for a proxy or app that can drain itself. `auto` recognises images and container names.",
    manager: { kind: "driver", fallback: "none" },
  }),
  driverUrl: setting({
    name: "driver-url",
    codec: driverUrl,
    fallback: "",
    fallbackDescription: "per driver",
    summary: "Address of the admin interface at which the driver calls the proxy.",
    manager: { kind: "text", writeCondition: "when-set" },
  }),
  drainUrl: setting({
    name: "drain-url",
    codec: appUrl,
    fallback: "",
    fallbackDescription: "–",
    summary: "Driver `http`: URL to which the manager sends one POST when the draining phase starts.",
    manager: { kind: "text", writeCondition: "when-set" },
  }),
  activeUrl: setting({
    name: "active-url",
    codec: appUrl,
    fallback: "",
    fallbackDescription: "–",
    summary:
      "Driver `http`: URL that returns the number of active requests, as plain text or as the value that a JSON pointer or Prometheus sample after `#` selects.",
    manager: { kind: "text", writeCondition: "when-set" },
  }),
  drainPorts: setting({
    name: "drain-ports",
    codec: portList,
    fallback: [],
    fallbackDescription: "all TCP ports that listen on a non-loopback address, except the manager's",
    summary: "Ports whose traffic delays the drain; traffic on all other ports does not.",
    manager: {
      kind: "ports",
      writeCondition: "when-set",
      comment: "Empty: all TCP ports that listen on a non-loopback address, except the manager's and the mesh's.",
    },
  }),
  ignorePorts: setting({
    name: "ignore-ports",
    codec: portList,
    fallback: [],
    fallbackDescription: "–",
    summary: "Ports whose connections do not delay the drain.",
    manager: { kind: "ports", writeCondition: "when-set" },
  }),
  hooks: derived(
    "hooks",
    "hooks",
    [],
    "Containers with a hook of lastcall, each with its role: `app`, or `mesh-proxy`, which gets its stop signal after the apps have exited.",
  ),
  kubeletProbes: derived(
    "kubelet-probes",
    "probes",
    [],
    "Ports that the kubelet probes while the Pod terminates, with the period; these connections do not count as traffic.",
  ),
  preload: setting({
    name: "preload",
    codec: oneOf("disabled", "http1"),
    fallback: "disabled",
    summary:
      "`http1`: the app's processes load a library by LD_PRELOAD that adds `Connection: close` to HTTP/1.1 responses during the drain.",
    manager: {
      kind: "choice",
      writeCondition: "when-set",
      comment:
        "Whether the app's processes load the library of `native/preload`, which closes keep-alive connections of clients.",
    },
  }),
  addressScope: derived(
    "address-scope",
    "address",
    "",
    "Count only sockets of this local address; empty means all. For Pods that share a network namespace.",
  ),
  completes: derived(
    "completes",
    "switch",
    false,
    "Whether the Pod runs to completion (restartPolicy Never or OnFailure).",
  ),
  classic: derived(
    "classic",
    "switch",
    false,
    "Whether the manager is a regular container, whose own preStop hook has to run until all other hooks have been answered.",
  ),
  containers: setting({
    name: "containers",
    codec: nameList,
    fallback: [],
    fallbackDescription: "every regular container",
    summary: "Containers that get lastcall's preStop hook.",
  }),
  preStop: setting({
    name: "prestop",
    codec: oneOf("auto", "keep", "chain", "replace"),
    fallback: "auto",
    summary:
      "Handling of a container's own preStop hook. `auto` replaces hooks that do a part of lastcall's work, and keeps all others.",
  }),
  profile: setting({
    name: "profile",
    codec: profileName,
    fallback: "",
    fallbackDescription: "–",
    summary:
      "A named set of values: built in (`spot`, `dev`, `singleton`, `edge`, `long-work`), or from the cluster configuration.",
  }),
  resources: setting({
    name: "resources",
    codec: managerResources,
    fallback: "auto",
    fallbackDescription: "keeps the QoS class",
    summary: "Requests and limits of the manager.",
  }),
  runAsUser: setting({
    name: "run-as-user",
    codec: runAsUser,
    fallback: "auto",
    summary:
      "User of the manager. `auto`: 17890, except in OpenShift namespaces, where the cluster assigns one. `unset`: runAsUser is not written.",
  }),
} as const;

export const ROWS: readonly (readonly [key: string, row: Row<unknown> | DerivedRow])[] = Object.entries(TABLE) as never;

type Table = typeof TABLE;

/** The values that apply to a Pod, from its annotations, its namespace and the cluster. */
export type PodPolicy = {
  readonly [K in keyof Table as Table[K] extends DerivedRow ? never : K]: Table[K] extends Row<infer T> ? T : never;
};

export type Field = keyof PodPolicy;
export type ModeChoice = PodPolicy["mode"];
export type RunAsUserChoice = PodPolicy["runAsUser"];

/** In the order of the reference. */
export const FIELDS: readonly Field[] = (Object.keys(TABLE) as (keyof Table)[]).filter(
  (key): key is Field => "codec" in TABLE[key],
);

export const ANNOTATIONS: { readonly [K in Field]: Row<PodPolicy[K]> } = Object.fromEntries(
  FIELDS.map((field) => [field, TABLE[field]]),
) as never;

/** Injection writes this annotation; it is not a setting. */
export const STATUS_ANNOTATION = `${PREFIX}status`;

/** The opt-in label of Pods and namespaces; on a Pod also an annotation. */
export const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

/** The label of Pods and namespaces that selects the webhook by the `revision` of its chart. */
export const REVISION = `${PREFIX}revision`;

export function fallbackText<K extends Field>(field: K): string {
  const row = ANNOTATIONS[field];
  return row.fallbackDescription ?? row.codec.format(row.fallback);
}
