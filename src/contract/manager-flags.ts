/** The manager's flags. Generated from src/policy/fields.ts by `npm run generate`. */
import {
  DEFAULT_SETTINGS,
  type DrainedWhen,
  type DrainSettings,
  type Preload,
  type Shutdown,
} from "./drain-settings.ts";
import { formatDuration } from "./duration.ts";
import {
  addressOf,
  driverOf,
  durationOf,
  type FlagProblem,
  type FlagTexts,
  hooksOf,
  hooksText,
  invalidValue,
  portOf,
  portsOf,
  probesOf,
  probesText,
} from "./flag-values.ts";

export type FlagText = { readonly flag: string; readonly text: string };

export function alwaysWrittenFlags(settings: DrainSettings): FlagText[] {
  return [
    { flag: "--port", text: `${settings.port}` },
    { flag: "--drain-delay", text: formatDuration(settings.drainDelayMs) },
    { flag: "--deregistration-delay", text: formatDuration(settings.deregistrationDelayMs) },
    { flag: "--drain-timeout", text: formatDuration(settings.drainTimeoutMs) },
    { flag: "--quiet-period", text: formatDuration(settings.quietPeriodMs) },
    { flag: "--patience", text: formatDuration(settings.patienceMs) },
    { flag: "--app-grace", text: formatDuration(settings.appGraceMs) },
    { flag: "--drained-when", text: settings.drainedWhen },
    { flag: "--driver", text: settings.driver },
  ];
}

export function optionalFlags(settings: DrainSettings): FlagText[] {
  return [
    { flag: "--shutdown", text: settings.shutdown === "auto" ? "" : settings.shutdown },
    { flag: "--driver-url", text: settings.driverUrl },
    { flag: "--drain-url", text: settings.drainUrl },
    { flag: "--active-url", text: settings.activeUrl },
    { flag: "--drain-ports", text: settings.drainPorts.join(",") },
    { flag: "--ignore-ports", text: settings.ignorePorts.join(",") },
    { flag: "--hooks", text: hooksText(settings.hooks) },
    { flag: "--kubelet-probes", text: probesText(settings.kubeletProbes) },
    { flag: "--preload", text: settings.preload === "disabled" ? "" : settings.preload },
    { flag: "--address-scope", text: settings.addressScope },
  ];
}

export function enabledSwitches(settings: DrainSettings): string[] {
  const flags: string[] = [];
  if (settings.completes) flags.push("--completes");
  if (settings.classic) flags.push("--classic");
  return flags;
}

export function settingsOf(texts: FlagTexts, problems: FlagProblem[]): DrainSettings {
  const fallback = DEFAULT_SETTINGS;
  return {
    port: portOf(texts, problems, "--port", fallback.port),
    drainDelayMs: durationOf(texts, problems, "--drain-delay", fallback.drainDelayMs),
    deregistrationDelayMs: durationOf(texts, problems, "--deregistration-delay", fallback.deregistrationDelayMs),
    drainTimeoutMs: durationOf(texts, problems, "--drain-timeout", fallback.drainTimeoutMs),
    quietPeriodMs: durationOf(texts, problems, "--quiet-period", fallback.quietPeriodMs),
    patienceMs: durationOf(texts, problems, "--patience", fallback.patienceMs),
    shutdown: shutdownOf(texts, problems),
    appGraceMs: durationOf(texts, problems, "--app-grace", fallback.appGraceMs),
    drainedWhen: drainedWhenOf(texts, problems),
    driver: driverOf(texts, problems, "--driver", fallback.driver),
    driverUrl: texts.get("--driver-url") ?? "",
    drainUrl: texts.get("--drain-url") ?? "",
    activeUrl: texts.get("--active-url") ?? "",
    drainPorts: portsOf(texts, problems, "--drain-ports"),
    ignorePorts: portsOf(texts, problems, "--ignore-ports"),
    hooks: hooksOf(texts, problems, "--hooks"),
    kubeletProbes: probesOf(texts, problems, "--kubelet-probes"),
    preload: preloadOf(texts, problems),
    addressScope: addressOf(texts, problems, "--address-scope"),
    completes: texts.has("--completes"),
    classic: texts.has("--classic"),
  };
}

function shutdownOf(texts: FlagTexts, problems: FlagProblem[]): Shutdown {
  const text = texts.get("--shutdown") ?? "auto";
  if (text === "auto") return text;
  if (text === "graceful") return text;
  if (text === "abrupt") return text;
  problems.push(invalidValue("--shutdown", text, "auto, graceful or abrupt"));
  return "auto";
}

function drainedWhenOf(texts: FlagTexts, problems: FlagProblem[]): DrainedWhen {
  const text = texts.get("--drained-when") ?? "auto";
  if (text === "auto") return text;
  if (text === "quiet") return text;
  if (text === "connections") return text;
  if (text === "requests") return text;
  if (text === "deadline") return text;
  problems.push(invalidValue("--drained-when", text, "auto, quiet, connections, requests or deadline"));
  return "auto";
}

function preloadOf(texts: FlagTexts, problems: FlagProblem[]): Preload {
  const text = texts.get("--preload") ?? "disabled";
  if (text === "disabled") return text;
  if (text === "http1") return text;
  problems.push(invalidValue("--preload", text, "disabled or http1"));
  return "disabled";
}

export const SWITCH_FLAGS: readonly string[] = ["--completes", "--classic"];

export const VALUE_FLAGS: readonly string[] = [
  "--port",
  "--drain-delay",
  "--deregistration-delay",
  "--drain-timeout",
  "--quiet-period",
  "--patience",
  "--shutdown",
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
