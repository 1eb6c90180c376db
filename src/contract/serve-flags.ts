/** `DrainSettings` to the flags of `serve` and back: one list of names, both directions. */
import {
  DEFAULT_SETTINGS,
  type DrainedWhen,
  type DrainSettings,
  type DriverName,
  type HeldContainer,
  type HookRole,
  type KubeletProbe,
} from "./drain-settings.ts";
import { formatDuration, parseDurationMs } from "./duration.ts";

export type FlagProblem = { readonly flag: string; readonly message: string };

export type ParsedFlags = { readonly settings: DrainSettings; readonly problems: readonly FlagProblem[] };

/** Flags in a fixed order; values equal to the default are written too for the policy a person looks for, the rest only when set. */
export function formatServeFlags(settings: DrainSettings): string[] {
  const flags = [
    `--port=${settings.port}`,
    `--drain-delay=${formatDuration(settings.drainDelayMs)}`,
    `--deregistration-delay=${formatDuration(settings.deregistrationDelayMs)}`,
    `--drain-timeout=${formatDuration(settings.drainTimeoutMs)}`,
    `--quiet-period=${formatDuration(settings.quietPeriodMs)}`,
    `--app-grace=${formatDuration(settings.appGraceMs)}`,
    `--drained-when=${settings.drainedWhen}`,
    `--driver=${settings.driver}`,
  ];
  if (settings.driverUrl !== "") flags.push(`--driver-url=${settings.driverUrl}`);
  if (settings.drainUrl !== "") flags.push(`--drain-url=${settings.drainUrl}`);
  if (settings.activeUrl !== "") flags.push(`--active-url=${settings.activeUrl}`);
  if (settings.drainPorts.length > 0) flags.push(`--drain-ports=${settings.drainPorts.join(",")}`);
  if (settings.ignorePorts.length > 0) flags.push(`--ignore-ports=${settings.ignorePorts.join(",")}`);
  if (settings.hooks.length > 0)
    flags.push(`--hooks=${settings.hooks.map((h) => `${h.container}:${h.role}`).join(",")}`);
  if (settings.kubeletProbes.length > 0) {
    flags.push(
      `--kubelet-probes=${settings.kubeletProbes.map((p) => `${p.port}:${formatDuration(p.periodMs)}`).join(",")}`,
    );
  }
  if (settings.completes) flags.push("--completes");
  if (settings.classic) flags.push("--classic");
  if (settings.addressScope !== "") flags.push(`--address-scope=${settings.addressScope}`);
  return flags;
}

/** Reads every flag to the end and collects all problems; a flag with a problem keeps its default. */
export function parseServeFlags(args: readonly string[]): ParsedFlags {
  const problems: FlagProblem[] = [];
  const texts = new Map<string, string>();
  for (const arg of args) {
    const cut = arg.indexOf("=");
    const name = cut < 0 ? arg : arg.slice(0, cut);
    const value = cut < 0 ? "" : arg.slice(cut + 1);
    if (!FLAGS.includes(name))
      problems.push({ flag: name, message: `unknown flag ${name}; known are ${FLAGS.join(" ")}` });
    else if (SWITCHES.includes(name) && cut >= 0) problems.push({ flag: name, message: `${name} takes no value` });
    else if (!SWITCHES.includes(name) && value === "")
      problems.push({ flag: name, message: `${name} needs a value, written ${name}=VALUE` });
    else if (texts.has(name)) problems.push({ flag: name, message: `${name} is given twice` });
    else texts.set(name, value);
  }
  const d = DEFAULT_SETTINGS;
  const settings: DrainSettings = {
    port: portOf(texts, problems, "--port", d.port),
    drainDelayMs: durationOf(texts, problems, "--drain-delay", d.drainDelayMs),
    deregistrationDelayMs: durationOf(texts, problems, "--deregistration-delay", d.deregistrationDelayMs),
    drainTimeoutMs: durationOf(texts, problems, "--drain-timeout", d.drainTimeoutMs),
    quietPeriodMs: durationOf(texts, problems, "--quiet-period", d.quietPeriodMs),
    appGraceMs: durationOf(texts, problems, "--app-grace", d.appGraceMs),
    drainedWhen: drainedWhenOf(texts, problems, d.drainedWhen),
    driver: driverOf(texts, problems, d.driver),
    driverUrl: texts.get("--driver-url") ?? "",
    drainUrl: texts.get("--drain-url") ?? "",
    activeUrl: texts.get("--active-url") ?? "",
    drainPorts: portsOf(texts, problems, "--drain-ports"),
    ignorePorts: portsOf(texts, problems, "--ignore-ports"),
    hooks: hooksOf(texts, problems),
    kubeletProbes: probesOf(texts, problems),
    completes: texts.has("--completes"),
    classic: texts.has("--classic"),
    addressScope: texts.get("--address-scope") ?? "",
  };
  return { settings, problems };
}

const SWITCHES: readonly string[] = ["--completes", "--classic"];

const FLAGS: readonly string[] = [
  "--port",
  "--drain-delay",
  "--deregistration-delay",
  "--drain-timeout",
  "--quiet-period",
  "--app-grace",
  "--drained-when",
  "--driver",
  "--driver-url",
  "--drain-url",
  "--active-url",
  "--drain-ports",
  "--ignore-ports",
  "--hooks",
  "--kubelet-probes",
  "--completes",
  "--classic",
  "--address-scope",
];

function durationOf(texts: Map<string, string>, problems: FlagProblem[], flag: string, fallback: number): number {
  const text = texts.get(flag);
  if (text === undefined) return fallback;
  const ms = parseDurationMs(text);
  if (ms === undefined)
    problems.push({ flag, message: `${flag} got "${text}", expected a duration with a unit, such as 30s` });
  return ms ?? fallback;
}

function portNumber(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function portOf(texts: Map<string, string>, problems: FlagProblem[], flag: string, fallback: number): number {
  const text = texts.get(flag);
  if (text === undefined) return fallback;
  const port = portNumber(text);
  if (port === undefined) problems.push({ flag, message: `${flag} got "${text}", expected a port from 1 to 65535` });
  return port ?? fallback;
}

function portsOf(texts: Map<string, string>, problems: FlagProblem[], flag: string): number[] {
  const ports: number[] = [];
  const text = texts.get(flag);
  if (text === undefined) return ports;
  for (const part of text.split(",")) {
    const port = portNumber(part);
    if (port === undefined)
      problems.push({ flag, message: `${flag} got "${part}", expected ports from 1 to 65535 with commas between` });
    else ports.push(port);
  }
  return ports;
}

function drainedWhenOf(texts: Map<string, string>, problems: FlagProblem[], fallback: DrainedWhen): DrainedWhen {
  const text = texts.get("--drained-when");
  if (text === undefined) return fallback;
  if (text === "auto" || text === "quiet" || text === "connections" || text === "requests" || text === "deadline")
    return text;
  problems.push({
    flag: "--drained-when",
    message: `--drained-when got "${text}", expected auto, quiet, connections, requests or deadline`,
  });
  return fallback;
}

function driverOf(texts: Map<string, string>, problems: FlagProblem[], fallback: DriverName): DriverName {
  const text = texts.get("--driver");
  if (text === undefined) return fallback;
  if (text === "none" || text === "envoy" || text === "istio" || text === "linkerd" || text === "http") return text;
  problems.push({ flag: "--driver", message: `--driver got "${text}", expected none, envoy, istio, linkerd or http` });
  return fallback;
}

function roleOf(text: string): HookRole | undefined {
  if (text === "app" || text === "mesh-proxy") return text;
  return undefined;
}

function hooksOf(texts: Map<string, string>, problems: FlagProblem[]): HeldContainer[] {
  const hooks: HeldContainer[] = [];
  const text = texts.get("--hooks");
  if (text === undefined) return hooks;
  for (const part of text.split(",")) {
    const cut = part.lastIndexOf(":");
    const role = cut < 1 ? undefined : roleOf(part.slice(cut + 1));
    if (role === undefined)
      problems.push({
        flag: "--hooks",
        message: `--hooks got "${part}", expected CONTAINER:app or CONTAINER:mesh-proxy`,
      });
    else hooks.push({ container: part.slice(0, cut), role });
  }
  return hooks;
}

function probesOf(texts: Map<string, string>, problems: FlagProblem[]): KubeletProbe[] {
  const probes: KubeletProbe[] = [];
  const text = texts.get("--kubelet-probes");
  if (text === undefined) return probes;
  for (const part of text.split(",")) {
    const cut = part.indexOf(":");
    const port = cut < 1 ? undefined : portNumber(part.slice(0, cut));
    const periodMs = cut < 1 ? undefined : parseDurationMs(part.slice(cut + 1));
    if (port === undefined || periodMs === undefined) {
      problems.push({
        flag: "--kubelet-probes",
        message: `--kubelet-probes got "${part}", expected PORT:PERIOD, such as 8080:10s`,
      });
    } else probes.push({ port, periodMs });
  }
  return probes;
}
