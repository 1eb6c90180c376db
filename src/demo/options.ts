/** The flags of `lastcall demo`, and the annotations that follow from them. Pure. */
import { formatDuration } from "../contract/duration.ts";
import { helpRows, type ReadSettings, readByTable, type SettingProblem } from "../settings/read-settings.ts";
import {
  choiceSetting,
  fileSetting,
  type SettingTable,
  switchSetting,
  type ValuesOf,
  waitSetting,
} from "../settings/setting.ts";

/** Limits against a wrong unit: longer waits would only make the demo run for hours. */
const PROPAGATION_LIMIT_MS = 30_000;
const DELAY_LIMIT_MS = 120_000;
const TIMEOUT_LIMIT_MS = 600_000;
/** The duration follows from other flags. */
const DERIVED_MS = -1;

const DEFAULT_DRAIN_DELAY_MS = 5_000;
const MARGIN_MS = 3_000;
const ENDLESS_TIMEOUT_MS = 8_000;
const DEFAULT_PATH = "/";

const OPTIONS = {
  propagationMs: waitSetting(
    "propagation",
    2_000,
    "how late the Service's proxy gets endpoint changes",
    PROPAGATION_LIMIT_MS,
  ),
  drainDelayMs: {
    ...waitSetting("drain-delay", DERIVED_MS, "of the Pods", DELAY_LIMIT_MS),
    fallbackShows: "the larger of 5s and the propagation + 3s",
  },
  drainTimeoutMs: {
    ...waitSetting("drain-timeout", DERIVED_MS, "of the Pods", TIMEOUT_LIMIT_MS),
    fallbackShows: "60s; 8s with --endless-clients",
  },
  longRequest: switchSetting("long-request", "a 5 s request is in flight at each Pod when it is deleted"),
  endlessClients: switchSetting("endless-clients", "adds keep-alive clients that never leave"),
  withoutRelay: switchSetting("no-relay", "managers cannot ask when EndpointSlices withdraw their Pod"),
  driver: choiceSetting(
    "driver",
    ["none", "http"],
    "none",
    "http: lastcall notifies the sample app of the drain, and the app sends its clients away",
  ),
  network: choiceSetting(
    "network",
    ["auto", "namespace", "loopback"],
    "auto",
    "each Pod in a network namespace of its own, or on a loopback address of its own",
  ),
  replicas: {
    flag: "replicas",
    shows: "NUMBER",
    fallback: 2,
    fallbackShows: "2",
    expects: "a number from 1 to 5",
    summary: "of the sample",
    parse: (text: string) => (/^[1-5]$/.test(text) ? Number(text) : undefined),
  },
  file: { ...fileSetting("file", "the sample", "your own Deployment; its containers must name a command"), short: "f" },
  path: {
    flag: "path",
    shows: "PATH",
    fallback: DEFAULT_PATH,
    fallbackShows: DEFAULT_PATH,
    expects: "a path that begins with /",
    summary: "what the clients of your Deployment request",
    parse: (text: string) => (text.startsWith("/") ? text : undefined),
  },
  svg: fileSetting("svg", "none", "also writes the timeline of one Pod's end as a picture"),
  json: switchSetting("json", "prints one JSON object instead of the text"),
} satisfies SettingTable;

export type DemoOptions = ValuesOf<typeof OPTIONS>;

export const DEMO_HELP = `lastcall demo [flags]

Rolls a small Deployment twice on this machine, without and with lastcall, under load, and counts failed requests.
Needs no cluster: the webhook, the manager and the app are real processes under the kubelet's termination rules; the
kubelet, the Service's proxy and the API server are played.

${helpRows(OPTIONS)}
Exit status: 0 when no request failed with lastcall (and some did without it, unless the propagation is 0s), else 1.
`;

export function readOptions(args: readonly string[]): ReadSettings<typeof OPTIONS> {
  const read = readByTable(OPTIONS, args);
  return { ...read, problems: [...read.problems, ...misplaced(read)] };
}

function misplaced({ settings, flagsSet: given, problems }: ReadSettings<typeof OPTIONS>): readonly SettingProblem[] {
  const isSample = settings.file === "";
  const isPathRefused = problems.some(({ where }) => where === "--path");
  const sampleOnly = (flag: string, remedy: string) => ({ where: flag, message: `It is for the sample; ${remedy}.` });
  return [
    ...(!isSample && settings.driver === "http"
      ? [sampleOnly("--driver", "write lastcall.dev/driver into the Pod template of your Deployment")]
      : []),
    ...(!isSample && given.has("replicas")
      ? [sampleOnly("--replicas", "write spec.replicas into your Deployment")]
      : []),
    ...(isSample && given.has("path") && !isPathRefused
      ? [{ where: "--path", message: "It is for your own Deployment (-f FILE); the sample answers every path." }]
      : []),
  ];
}

/** Annotations for the Pods, so that the drain outlasts the propagation. */
export function drainAnnotations(options: DemoOptions): Record<string, string> {
  const annotations: Record<string, string> = {};
  const needed = options.propagationMs + MARGIN_MS;
  if (options.drainDelayMs >= 0) annotations["lastcall.dev/drain-delay"] = formatDuration(options.drainDelayMs);
  else if (needed > DEFAULT_DRAIN_DELAY_MS) annotations["lastcall.dev/drain-delay"] = formatDuration(needed);
  // Clients that never leave make every drain run to its deadline, a minute by default.
  const timeoutMs = options.drainTimeoutMs < 0 && options.endlessClients ? ENDLESS_TIMEOUT_MS : options.drainTimeoutMs;
  if (timeoutMs >= 0) annotations["lastcall.dev/drain-timeout"] = formatDuration(timeoutMs);
  return annotations;
}
