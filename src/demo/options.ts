/** Defines the flags of `lastcall demo` and derives the Pods' annotations from them. Pure. */
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

/** The limits reject values in a wrong unit, with which the demo would run for hours. */
const PROPAGATION_LIMIT_MS = 30_000;
const DELAY_LIMIT_MS = 120_000;
const TIMEOUT_LIMIT_MS = 600_000;
const DERIVED_MS = -1;

const DEFAULT_DRAIN_DELAY_MS = 5_000;
const MARGIN_MS = 3_000;
const DEFAULT_PATH = "/";

const OPTIONS = {
  propagationMs: waitSetting(
    "propagation",
    2_000,
    "delay until the Service's proxy applies an endpoint change",
    PROPAGATION_LIMIT_MS,
  ),
  drainDelayMs: {
    ...waitSetting("drain-delay", DERIVED_MS, "drain delay of the Pods", DELAY_LIMIT_MS),
    defaultText: "propagation + 3s, at least 5s",
  },
  drainTimeoutMs: {
    ...waitSetting("drain-timeout", DERIVED_MS, "drain timeout of the Pods", TIMEOUT_LIMIT_MS),
    defaultText: "60s",
  },
  longRequest: switchSetting("long-request", "sends a 5 s request to each Pod right before its deletion"),
  endlessClients: switchSetting("endless-clients", "adds keep-alive clients that never disconnect"),
  compare: choiceSetting("compare", ["none", "sleep"], "none", "sleep: runs a third update, with preStop: sleep 5"),
  withoutRelay: switchSetting("no-relay", "disables the relay, which sends Pods their withdrawal from EndpointSlices"),
  driver: choiceSetting(
    "driver",
    ["none", "http"],
    "none",
    "http: lastcall notifies the sample app of the drain, and the app responds with Connection: close",
  ),
  shutdown: choiceSetting(
    "shutdown",
    ["abrupt", "graceful"],
    "abrupt",
    "graceful: the sample app finishes its requests and closes its connections at SIGTERM, and lastcall.dev/shutdown is set",
  ),
  network: choiceSetting(
    "network",
    ["auto", "namespace", "loopback"],
    "auto",
    "network of the Pods: a network namespace or a loopback address for each; auto tries namespaces first",
  ),
  replicas: {
    flag: "replicas",
    placeholder: "NUMBER",
    fallback: 2,
    defaultText: "2",
    expects: "a number from 1 to 5",
    summary: "replicas of the sample Deployment",
    parse: (text: string) => (/^[1-5]$/.test(text) ? Number(text) : undefined),
  },
  file: {
    ...fileSetting(
      "file",
      "the sample",
      "updates your own Deployment instead of the sample; each of its containers must set command",
    ),
    short: "f",
  },
  path: {
    flag: "path",
    placeholder: "PATH",
    fallback: DEFAULT_PATH,
    defaultText: DEFAULT_PATH,
    expects: "a path that begins with /",
    summary: "path that the clients request from your own Deployment",
    parse: (text: string) => (text.startsWith("/") ? text : undefined),
  },
  svg: fileSetting("svg", "none", "also writes the timeline of one Pod's shutdown as an SVG image"),
  json: switchSetting("json", "prints one JSON object instead of text"),
} satisfies SettingTable;

export type DemoOptions = ValuesOf<typeof OPTIONS>;

export const DEMO_HELP = `lastcall demo [flags]

Runs two rolling updates of a small Deployment under load, without and with lastcall, and compares the failed requests
and the time from a Pod's deletion to its stop signal.
No cluster is needed: the webhook, the manager and the app run as local processes; the kubelet, the Service's proxy and
the API server are simulated.

${helpRows(OPTIONS)}
Exit status: 0 if no request failed with lastcall and at least one failed without it (not required with
--propagation 0s), else 1.
`;

export function readOptions(args: readonly string[]): ReadSettings<typeof OPTIONS> {
  const reading = readByTable(OPTIONS, args);
  return { ...reading, problems: [...reading.problems, ...misplacedFlags(reading)] };
}

function misplacedFlags({ settings, flagsSet, problems }: ReadSettings<typeof OPTIONS>): readonly SettingProblem[] {
  const isSample = settings.file === "";
  const isPathRefused = problems.some(({ where }) => where === "--path");
  const sampleOnly = (flag: string, remedy: string) => ({
    where: flag,
    message: `Applies only to the sample Deployment; ${remedy}.`,
  });
  return [
    ...(!isSample && settings.driver === "http"
      ? [sampleOnly("--driver", "set lastcall.dev/driver in your Deployment's Pod template")]
      : []),
    ...(!isSample && settings.shutdown === "graceful"
      ? [sampleOnly("--shutdown", "set lastcall.dev/shutdown in your Deployment's Pod template")]
      : []),
    ...(!isSample && flagsSet.has("replicas")
      ? [sampleOnly("--replicas", "set spec.replicas in your Deployment")]
      : []),
    ...(isSample && flagsSet.has("path") && !isPathRefused
      ? [{ where: "--path", message: "Applies only to your own Deployment; add -f FILE or remove --path." }]
      : []),
  ];
}

export function drainAnnotations(options: DemoOptions): Record<string, string> {
  const annotations: Record<string, string> = {};
  const neededDelayMs = options.propagationMs + MARGIN_MS;
  if (options.drainDelayMs >= 0) annotations["lastcall.dev/drain-delay"] = formatDuration(options.drainDelayMs);
  else if (neededDelayMs > DEFAULT_DRAIN_DELAY_MS)
    annotations["lastcall.dev/drain-delay"] = formatDuration(neededDelayMs);
  if (options.drainTimeoutMs >= 0) annotations["lastcall.dev/drain-timeout"] = formatDuration(options.drainTimeoutMs);
  return annotations;
}
