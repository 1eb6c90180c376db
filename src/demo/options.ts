/** The words after `lastcall demo`, read whole: every mistake is told, not the first. Pure. */
import { parseArgs } from "node:util";
import { formatDuration, parseDurationMs } from "../contract/duration.ts";

export type DemoOptions = {
  readonly propagationMs: number;
  /** -1: chosen from the propagation. */
  readonly drainDelayMs: number;
  /** -1: the product's default, or short with endless clients. */
  readonly drainTimeoutMs: number;
  readonly longRequest: boolean;
  readonly endlessClients: boolean;
  /** Whether managers can ask when EndpointSlices withdraw their Pod. */
  readonly relay: boolean;
  readonly driver: "none" | "http";
  readonly network: "auto" | "namespace" | "loopback";
  readonly replicas: number;
  /** Empty: the sample. */
  readonly file: string;
  readonly path: string;
  /** Empty: none. */
  readonly svg: string;
  readonly json: boolean;
  readonly help: boolean;
};

type ReadOptions = { readonly options: DemoOptions; readonly problems: readonly string[] };

const FLAGS = {
  propagation: { type: "string", default: "2s" },
  "drain-delay": { type: "string" },
  "drain-timeout": { type: "string" },
  "long-request": { type: "boolean", default: false },
  "endless-clients": { type: "boolean", default: false },
  "no-relay": { type: "boolean", default: false },
  driver: { type: "string", default: "none" },
  network: { type: "string", default: "auto" },
  replicas: { type: "string" },
  file: { type: "string", short: "f", default: "" },
  path: { type: "string" },
  svg: { type: "string", default: "" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const DEMO_HELP = `lastcall demo [flags]

Rolls a small Deployment twice on this machine, without and with lastcall, under load, and counts failed requests.
Needs no cluster: the webhook, the manager and the app are real processes under the kubelet's termination rules; the
kubelet, the Service's proxy and the API server are played.

  --propagation 2s      how late the Service's proxy learns of endpoint changes
  --drain-delay 5s      default: the larger of 5s and the propagation + 3s
  --drain-timeout 60s   default: 60s; 8s with --endless-clients
  --long-request        a 5 s request is in flight at each Pod when it is deleted
  --endless-clients     adds keep-alive clients that never leave
  --no-relay            managers cannot ask when EndpointSlices withdraw their Pod
  --driver none|http    http: lastcall tells the sample app that it drains, and it sends its clients away
  --network auto|namespace|loopback
                        each Pod in a network namespace of its own, or on a loopback address of its own
  --replicas 2          of the sample, 1 to 5
  -f, --file FILE       your own Deployment; its containers must name a command
  --path /              what the clients of your Deployment ask for
  --svg FILE            also writes the timeline of one Pod's end as a picture
  --json                prints one JSON object instead of the story

Exit status: 0 when no request failed with lastcall (and some did without it, unless the propagation is 0s), else 1.
`;

export function readOptions(args: readonly string[]): ReadOptions {
  const problems: string[] = [];
  const parsed = parse(args, problems);
  const duration = (flag: string, text: string | undefined, limitMs: number) => {
    if (text === undefined) return -1;
    const ms = parseDurationMs(text);
    if (ms === undefined) problems.push(`--${flag} got "${text}", expected a duration with a unit, such as 2s.`);
    else if (ms > limitMs) problems.push(`--${flag} got "${text}", expected at most ${formatDuration(limitMs)}.`);
    return ms ?? -1;
  };
  const choice = <T extends string>(flag: string, text: string, choices: readonly T[], fallback: T): T => {
    const found = choices.find((candidate) => candidate === text);
    if (found === undefined) problems.push(`--${flag} got "${text}", expected ${listed(choices)}.`);
    return found ?? fallback;
  };
  const { replicas = "2", path = "/" } = parsed;
  if (!/^[1-5]$/.test(replicas)) problems.push(`--replicas got "${replicas}", expected a number from 1 to 5.`);
  if (!path.startsWith("/")) problems.push(`--path got "${path}", expected a path that begins with /.`);
  const options: DemoOptions = {
    propagationMs: duration("propagation", parsed.propagation, PROPAGATION_LIMIT_MS),
    drainDelayMs: duration("drain-delay", parsed["drain-delay"], DELAY_LIMIT_MS),
    drainTimeoutMs: duration("drain-timeout", parsed["drain-timeout"], TIMEOUT_LIMIT_MS),
    longRequest: parsed["long-request"],
    endlessClients: parsed["endless-clients"],
    relay: !parsed["no-relay"],
    driver: choice("driver", parsed.driver, ["none", "http"], "none"),
    network: choice("network", parsed.network, ["auto", "namespace", "loopback"], "auto"),
    replicas: Number(replicas),
    file: parsed.file,
    path,
    svg: parsed.svg,
    json: parsed.json,
    help: parsed.help,
  };
  const misplaced = options.file === "" ? forOwnOnly(parsed) : forSampleOnly(parsed);
  return { options, problems: [...problems, ...misplaced] };
}

function forSampleOnly(parsed: Parsed): readonly string[] {
  const problems: string[] = [];
  if (parsed.driver === "http")
    problems.push("--driver is for the sample; write lastcall.dev/driver into the Pod template of your Deployment.");
  if (parsed.replicas !== undefined)
    problems.push("--replicas is for the sample; write spec.replicas into your Deployment.");
  return problems;
}

function forOwnOnly(parsed: Parsed): readonly string[] {
  // A wrong path has its own sentence already.
  if (parsed.path?.startsWith("/") !== true) return [];
  return ["--path is for your own Deployment (-f FILE); the sample answers every path it is asked for."];
}

/** `a`, `a or b`, `a, b or c`. */
function listed(choices: readonly string[]): string {
  return choices.join(", ").replace(/, ([^,]*)$/, " or $1");
}

type Parsed = ReturnType<typeof parse>;

function parse(args: readonly string[], problems: string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, strict: true }).values;
  } catch (error) {
    // The library explains at length; its first sentence says it all.
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    problems.push(`${first.replace(/\.$/, "")}. See lastcall demo --help.`);
    return parseArgs({ args: [], options: FLAGS, strict: true }).values;
  }
}

/** What the Pods are annotated with so that the drain outlasts the propagation. */
export function drainAnnotations(options: DemoOptions): Record<string, string> {
  const annotations: Record<string, string> = {};
  const needed = options.propagationMs + MARGIN_MS;
  if (options.drainDelayMs >= 0) annotations["lastcall.dev/drain-delay"] = formatDuration(options.drainDelayMs);
  else if (needed > DEFAULT_DRAIN_DELAY_MS) annotations["lastcall.dev/drain-delay"] = formatDuration(needed);
  // With clients that never leave every drain goes to its deadline: no one wants to watch a minute of that.
  const timeoutMs = options.drainTimeoutMs < 0 && options.endlessClients ? ENDLESS_TIMEOUT_MS : options.drainTimeoutMs;
  if (timeoutMs >= 0) annotations["lastcall.dev/drain-timeout"] = formatDuration(timeoutMs);
  return annotations;
}

/** Longer waits show nothing more; they keep a slip of a unit from running for hours. */
const PROPAGATION_LIMIT_MS = 30_000;
const DELAY_LIMIT_MS = 120_000;
const TIMEOUT_LIMIT_MS = 600_000;
const DEFAULT_DRAIN_DELAY_MS = 5_000;
const MARGIN_MS = 3_000;
const ENDLESS_TIMEOUT_MS = 8_000;
