/** `DrainSettings` to the flags of `serve` and back: one list of names, both directions. */
import { DEFAULT_SETTINGS, type DrainSettings } from "./drain-settings.ts";
import { formatDuration } from "./duration.ts";
import {
  addressOf,
  drainedWhenOf,
  driverOf,
  durationOf,
  type FlagProblem,
  type FlagTexts,
  hooksOf,
  portOf,
  portsOf,
  preloadOf,
  probesOf,
} from "./flag-values.ts";

type ParsedFlags = { readonly settings: DrainSettings; readonly problems: readonly FlagProblem[] };

/** Flags in a fixed order. What a person looks for in `kubectl describe` is always written, the rest only when set. */
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
  const hooks = settings.hooks.map((held) => `${held.container}:${held.role}`);
  const probes = settings.kubeletProbes.map((probe) => `${probe.port}:${formatDuration(probe.periodMs)}`);
  const optional: readonly { readonly flag: string; readonly text: string }[] = [
    { flag: "--driver-url", text: settings.driverUrl },
    { flag: "--drain-url", text: settings.drainUrl },
    { flag: "--active-url", text: settings.activeUrl },
    { flag: "--drain-ports", text: settings.drainPorts.join(",") },
    { flag: "--ignore-ports", text: settings.ignorePorts.join(",") },
    { flag: "--hooks", text: hooks.join(",") },
    { flag: "--kubelet-probes", text: probes.join(",") },
    { flag: "--preload", text: settings.preload === "disabled" ? "" : settings.preload },
    { flag: "--address-scope", text: settings.addressScope },
  ];
  for (const { flag, text } of optional) if (text !== "") flags.push(`${flag}=${text}`);
  if (settings.completes) flags.push("--completes");
  if (settings.classic) flags.push("--classic");
  return flags;
}

/** Reads every flag to the end and collects all problems; a flag with a problem keeps its default. */
export function parseServeFlags(args: readonly string[]): ParsedFlags {
  const problems: FlagProblem[] = [];
  const texts = splitFlags(args, problems);
  const fallback = DEFAULT_SETTINGS;
  const settings: DrainSettings = {
    port: portOf(texts, problems, "--port", fallback.port),
    drainDelayMs: durationOf(texts, problems, "--drain-delay", fallback.drainDelayMs),
    deregistrationDelayMs: durationOf(texts, problems, "--deregistration-delay", fallback.deregistrationDelayMs),
    drainTimeoutMs: durationOf(texts, problems, "--drain-timeout", fallback.drainTimeoutMs),
    quietPeriodMs: durationOf(texts, problems, "--quiet-period", fallback.quietPeriodMs),
    appGraceMs: durationOf(texts, problems, "--app-grace", fallback.appGraceMs),
    drainedWhen: drainedWhenOf(texts, problems, fallback.drainedWhen),
    driver: driverOf(texts, problems, fallback.driver),
    driverUrl: texts.get("--driver-url") ?? "",
    drainUrl: texts.get("--drain-url") ?? "",
    activeUrl: texts.get("--active-url") ?? "",
    drainPorts: portsOf(texts, problems, "--drain-ports"),
    ignorePorts: portsOf(texts, problems, "--ignore-ports"),
    hooks: hooksOf(texts, problems),
    kubeletProbes: probesOf(texts, problems),
    completes: texts.has("--completes"),
    classic: texts.has("--classic"),
    preload: preloadOf(texts, problems),
    addressScope: addressOf(texts, problems, "--address-scope"),
  };
  return { settings, problems };
}

const SWITCHES: readonly string[] = ["--completes", "--classic"];

const VALUED: readonly string[] = [
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
  "--preload",
  "--address-scope",
];

function splitFlags(args: readonly string[], problems: FlagProblem[]): FlagTexts {
  const texts: FlagTexts = new Map();
  for (const arg of args) {
    const cut = arg.indexOf("=");
    const flag = cut < 0 ? arg : arg.slice(0, cut);
    const message = mistakeOf(flag, cut < 0 ? undefined : arg.slice(cut + 1), texts);
    if (message === "") texts.set(flag, cut < 0 ? "" : arg.slice(cut + 1));
    else problems.push({ flag, message });
  }
  return texts;
}

/** Empty when the flag may be taken. */
function mistakeOf(flag: string, value: string | undefined, taken: FlagTexts): string {
  const isSwitch = SWITCHES.includes(flag);
  if (!isSwitch && !VALUED.includes(flag))
    return `unknown flag ${flag}; known are ${[...VALUED, ...SWITCHES].join(" ")}`;
  if (taken.has(flag)) return `${flag} is given twice`;
  if (isSwitch && value !== undefined) return `${flag} takes no value`;
  if (!isSwitch && (value === undefined || value === "")) return `${flag} needs a value, written ${flag}=VALUE`;
  return "";
}
