/**
 * Every annotation that lastcall reads: name, codec, default, scopes and text.
 *
 * A row is not the whole of a setting. The field stands in `pod-policy.ts` and the list in `resolve.ts`; a value for the
 * manager also in `drain-settings.ts`, `flag-values.ts` and `serve-flags.ts` of the contract and in `settings.ts` of the plan.
 *
 * Readers of this table: the resolver (validation, defaults, origin), the reference page, the JSON schema of the
 * cluster defaults, and the flags of the command line. A field of `PodPolicy` without a row does not compile.
 */
import { DRIVERS } from "../contract/driver-table.ts";
import {
  type Codec,
  durationMs,
  nameList,
  oneOf,
  portList,
  profileName,
  runAsUser,
  unprivilegedPort,
} from "./codecs.ts";
import type { DriverChoice, PodPolicy } from "./pod-policy.ts";
import { managerResources } from "./resources-codec.ts";
import { appUrl, driverUrl } from "./url-codecs.ts";

export const PREFIX = "lastcall.dev/";

/** Where a value can be written; a nearer scope wins. Namespace opt-in is a label, read by selectors. */
export type Scope = "pod" | "namespace" | "cluster";

export type Row<T> = {
  /** The part after the prefix. */
  readonly name: string;
  readonly codec: Codec<T>;
  readonly fallback: T;
  /** The default in words, where the value itself would say nothing. */
  readonly fallbackShows?: string;
  readonly scopes: readonly Scope[];
  /** One sentence for the reference, present tense. */
  readonly summary: string;
};

const EVERYWHERE: readonly Scope[] = ["pod", "namespace", "cluster"];

export const ANNOTATIONS: { readonly [K in keyof PodPolicy]: Row<PodPolicy[K]> } = {
  inject: {
    name: "inject",
    codec: oneOf("enabled", "disabled"),
    fallback: "enabled",
    fallbackShows: "from the namespace",
    scopes: ["pod", "namespace"],
    summary:
      "Opts in or out; on a Pod as label or annotation, on a namespace as label. `disabled` on the Pod always wins.",
  },
  mode: {
    name: "mode",
    codec: oneOf("auto", "sidecar", "native", "classic", "sleep"),
    fallback: "auto",
    scopes: EVERYWHERE,
    summary: "What is added: the manager as native sidecar or classic container, or only a `sleep` hook.",
  },
  drainDelayMs: {
    name: "drain-delay",
    codec: durationMs,
    fallback: 5_000,
    scopes: EVERYWHERE,
    summary: "Shortest time the Pod keeps serving after it was told to end, for endpoint changes to reach every proxy.",
  },
  deregistrationDelayMs: {
    name: "deregistration-delay",
    codec: durationMs,
    fallback: 0,
    scopes: EVERYWHERE,
    summary: "Extra wait after endpoint withdrawal, for external load balancers.",
  },
  drainTimeoutMs: {
    name: "drain-timeout",
    codec: durationMs,
    fallback: 60_000,
    scopes: EVERYWHERE,
    summary: "Longest time given to open work after the delays.",
  },
  quietPeriodMs: {
    name: "quiet-period",
    codec: durationMs,
    fallback: 2_000,
    scopes: EVERYWHERE,
    summary: "How long traffic must have been absent before it counts as gone.",
  },
  drainedWhen: {
    name: "drained-when",
    codec: oneOf("auto", "quiet", "connections", "requests", "deadline"),
    fallback: "auto",
    scopes: EVERYWHERE,
    summary: "What ends the drain. `auto`: no active requests where a driver counts them, else quiet.",
  },
  driver: {
    name: "driver",
    codec: oneOf<DriverChoice>("auto", ...DRIVERS.map(({ name }) => name)),
    fallback: "auto",
    scopes: EVERYWHERE,
    summary: "Who speaks to a proxy or app that can drain itself. `auto` recognises images and container names.",
  },
  driverUrl: {
    name: "driver-url",
    codec: driverUrl,
    fallback: "",
    fallbackShows: "per driver",
    scopes: EVERYWHERE,
    summary: "The proxy's admin address.",
  },
  drainUrl: {
    name: "drain-url",
    codec: appUrl,
    fallback: "",
    fallbackShows: "–",
    scopes: EVERYWHERE,
    summary: "Driver `http`: POSTed once when draining starts.",
  },
  activeUrl: {
    name: "active-url",
    codec: appUrl,
    fallback: "",
    fallbackShows: "–",
    scopes: EVERYWHERE,
    summary:
      "Driver `http`: answers how many requests are active: a number, or after `#` a JSON pointer or a Prometheus sample.",
  },
  drainPorts: {
    name: "drain-ports",
    codec: portList,
    fallback: [],
    fallbackShows: "all TCP ports listening on a non-loopback address, minus ours",
    scopes: EVERYWHERE,
    summary: "The only ports whose traffic counts.",
  },
  ignorePorts: {
    name: "ignore-ports",
    codec: portList,
    fallback: [],
    fallbackShows: "–",
    scopes: EVERYWHERE,
    summary: "Ports whose traffic never counts.",
  },
  containers: {
    name: "containers",
    codec: nameList,
    fallback: [],
    fallbackShows: "every regular container",
    scopes: EVERYWHERE,
    summary: "Which containers get our preStop hook.",
  },
  preStop: {
    name: "prestop",
    codec: oneOf("auto", "keep", "chain", "replace"),
    fallback: "auto",
    scopes: EVERYWHERE,
    summary:
      "What happens to a container's own preStop hook. `auto` replaces hooks that only sleep and keeps every other.",
  },
  port: {
    name: "port",
    codec: unprivilegedPort,
    fallback: 17_890,
    scopes: EVERYWHERE,
    summary: "The manager's port; the next free declared one is taken when it collides.",
  },
  profile: {
    name: "profile",
    codec: profileName,
    fallback: "",
    fallbackShows: "–",
    scopes: EVERYWHERE,
    summary:
      "A named set of the values above: one that ships (`spot`, `dev`, `singleton`, `edge`, `long-work`), or of the cluster configuration.",
  },
  resources: {
    name: "resources",
    codec: managerResources,
    fallback: "auto",
    fallbackShows: "keeps the QoS class",
    scopes: EVERYWHERE,
    summary: "Requests and limits of the manager.",
  },
  runAsUser: {
    name: "run-as-user",
    codec: runAsUser,
    fallback: "auto",
    scopes: EVERYWHERE,
    summary:
      "The manager's user. `auto`: 17890, and none in a namespace of OpenShift, which assigns one. `unset`: none is written.",
  },
  preload: {
    name: "preload",
    codec: oneOf("disabled", "http1"),
    fallback: "disabled",
    scopes: EVERYWHERE,
    summary:
      "`http1`: the app's processes load a library, by LD_PRELOAD, that sends kept HTTP/1.1 clients away during the drain.",
  },
};

export type Field = keyof PodPolicy;

/** The fields in the order the reference shows them. */
export const FIELDS = Object.keys(ANNOTATIONS) as readonly Field[];

/** The note for people that injection leaves on the Pod; under our prefix, so it must not be called unknown. */
export const STATUS_ANNOTATION = `${PREFIX}status`;

/** The label that opts in or out, of Pods and namespaces; on a Pod also an annotation. */
export const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

/** The label, of Pods and namespaces, that names the release to inject. */
export const REVISION = `${PREFIX}revision`;

/** The default as a person would write or say it. */
export function fallbackText<K extends Field>(field: K): string {
  const row = ANNOTATIONS[field];
  return row.fallbackShows ?? row.codec.format(row.fallback);
}
