/**
 * Every setting of a Pod, one row each: name, codec, default, scopes, text, and how it reaches the manager.
 *
 * Values, types and defaults follow from the rows. `npm run generate` writes the manager's settings and flags from them
 * (`contract/drain-settings.ts`, `contract/manager-flags.ts`), the reference, and the schemas. A new setting is a row here and
 * the code that reads its value.
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

/** In the order of the reference and of the manager's flags. Empty text or list means: not set. */
const TABLE = {
  inject: setting({
    name: "inject",
    codec: oneOf("enabled", "disabled"),
    fallback: "enabled",
    fallbackShows: "from the namespace",
    scopes: ["pod", "namespace"],
    summary:
      "Opts in or out; on a Pod as label or annotation, on a namespace as label. `disabled` on the Pod always wins.",
  }),
  mode: setting({
    name: "mode",
    codec: oneOf("auto", "sidecar", "native", "classic", "sleep"),
    fallback: "auto",
    summary: "What is added: the manager as native sidecar or classic container, or only a `sleep` hook.",
  }),
  port: setting({
    name: "port",
    codec: unprivilegedPort,
    fallback: 17_890,
    summary:
      "The manager's port; if it collides, the next port up to 17989 is taken that the Pod neither declares nor probes.",
    manager: { kind: "port" },
  }),
  drainDelayMs: setting({
    name: "drain-delay",
    codec: durationMs,
    fallback: 5_000,
    summary: "Shortest time the Pod keeps serving after it was told to end, for endpoint changes to reach every proxy.",
    manager: { kind: "duration" },
  }),
  deregistrationDelayMs: setting({
    name: "deregistration-delay",
    codec: durationMs,
    fallback: 0,
    summary: "Extra wait after endpoint withdrawal, for external load balancers.",
    manager: { kind: "duration" },
  }),
  drainTimeoutMs: setting({
    name: "drain-timeout",
    codec: durationMs,
    fallback: 60_000,
    summary: "Longest time given to open work after the delays.",
    manager: { kind: "duration" },
  }),
  quietPeriodMs: setting({
    name: "quiet-period",
    codec: durationMs,
    fallback: 2_000,
    summary: "How long traffic must have been absent before it counts as gone.",
    manager: { kind: "duration" },
  }),
  appGraceMs: derived(
    "app-grace",
    "duration",
    30_000,
    "What the containers had after SIGTERM before injection; never spent by the drain.",
  ),
  drainedWhen: setting({
    name: "drained-when",
    codec: oneOf("auto", "quiet", "connections", "requests", "deadline"),
    fallback: "auto",
    summary: "What ends the drain. `auto`: no active requests where a driver counts them, else quiet.",
    manager: { kind: "choice" },
  }),
  driver: setting({
    name: "driver",
    codec: oneOf<"auto" | DriverName>("auto", ...DRIVERS.map(({ name }) => name)),
    fallback: "auto",
    summary: "Who speaks to a proxy or app that can drain itself. `auto` recognises images and container names.",
    manager: { kind: "driver", fallback: "none" },
  }),
  driverUrl: setting({
    name: "driver-url",
    codec: driverUrl,
    fallback: "",
    fallbackShows: "per driver",
    summary: "The proxy's admin address.",
    manager: { kind: "text", written: "when-set" },
  }),
  drainUrl: setting({
    name: "drain-url",
    codec: appUrl,
    fallback: "",
    fallbackShows: "–",
    summary: "Driver `http`: POSTed once when draining starts.",
    manager: { kind: "text", written: "when-set" },
  }),
  activeUrl: setting({
    name: "active-url",
    codec: appUrl,
    fallback: "",
    fallbackShows: "–",
    summary:
      "Driver `http`: answers how many requests are active: a number, or after `#` a JSON pointer or a Prometheus sample.",
    manager: { kind: "text", written: "when-set" },
  }),
  drainPorts: setting({
    name: "drain-ports",
    codec: portList,
    fallback: [],
    fallbackShows: "all TCP ports listening on a non-loopback address, minus ours",
    summary: "The only ports whose traffic counts.",
    manager: {
      kind: "ports",
      written: "when-set",
      doc: "Empty means: every TCP port listening on a non-loopback address, minus ours and the mesh's.",
    },
  }),
  ignorePorts: setting({
    name: "ignore-ports",
    codec: portList,
    fallback: [],
    fallbackShows: "–",
    summary: "Ports whose traffic never counts.",
    manager: { kind: "ports", written: "when-set" },
  }),
  hooks: derived(
    "hooks",
    "hooks",
    [],
    "The containers whose hooks are held, each with its role: `app`, or `mesh-proxy`, which is released after the apps.",
  ),
  kubeletProbes: derived(
    "kubelet-probes",
    "probes",
    [],
    "Ports that the kubelet probes, and how often; these connections do not count as traffic.",
  ),
  preload: setting({
    name: "preload",
    codec: oneOf("disabled", "http1"),
    fallback: "disabled",
    summary:
      "`http1`: the app's processes load a library, by LD_PRELOAD, that sends kept HTTP/1.1 clients away during the drain.",
    manager: {
      kind: "choice",
      written: "when-set",
      doc: "Whether the app's processes, which load the library of `native/preload`, send their clients away.",
    },
  }),
  addressScope: derived(
    "address-scope",
    "address",
    "",
    "Count only sockets of this local address; empty means all. For Pods that share a network namespace.",
  ),
  completes: derived("completes", "switch", false, "The Pod runs to completion (restartPolicy Never or OnFailure)."),
  classic: derived(
    "classic",
    "switch",
    false,
    "The manager is a regular container: its own preStop must outlast every hold.",
  ),
  containers: setting({
    name: "containers",
    codec: nameList,
    fallback: [],
    fallbackShows: "every regular container",
    summary: "Which containers get our preStop hook.",
  }),
  preStop: setting({
    name: "prestop",
    codec: oneOf("auto", "keep", "chain", "replace"),
    fallback: "auto",
    summary:
      "What happens to a container's own preStop hook. `auto` replaces hooks that only sleep and keeps every other.",
  }),
  profile: setting({
    name: "profile",
    codec: profileName,
    fallback: "",
    fallbackShows: "–",
    summary:
      "A named set of the values above: one that ships (`spot`, `dev`, `singleton`, `edge`, `long-work`), or of the cluster configuration.",
  }),
  resources: setting({
    name: "resources",
    codec: managerResources,
    fallback: "auto",
    fallbackShows: "keeps the QoS class",
    summary: "Requests and limits of the manager.",
  }),
  runAsUser: setting({
    name: "run-as-user",
    codec: runAsUser,
    fallback: "auto",
    summary:
      "The manager's user. `auto`: 17890, and none in a namespace of OpenShift, which assigns one. `unset`: none is written.",
  }),
} as const;

/** Rows of both kinds, for the generator. */
export const ROWS: readonly (readonly [key: string, row: Row<unknown> | DerivedRow])[] = Object.entries(TABLE) as never;

type Table = typeof TABLE;

/** What a Pod's annotations, its namespace and the cluster decide together, as values. */
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

/** Injection's note on the Pod. It has our prefix and is not a setting. */
export const STATUS_ANNOTATION = `${PREFIX}status`;

/** The label that opts in or out, of Pods and namespaces; on a Pod also an annotation. */
export const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

/** The label, of Pods and namespaces, that names the release to inject. */
export const REVISION = `${PREFIX}revision`;

/** The default as a person would write it. */
export function fallbackText<K extends Field>(field: K): string {
  const row = ANNOTATIONS[field];
  return row.fallbackShows ?? row.codec.format(row.fallback);
}
