/** Parses and formats the values of the manager's flags. */
import type { HeldContainer, HookRole, KubeletProbe } from "./drain-settings.ts";
import { DRIVERS, type DriverName } from "./driver-table.ts";
import { formatDuration, parseDurationMs } from "./duration.ts";

export type FlagProblem = { readonly flag: string; readonly message: string };

/** Values of the set flags, by name. */
export type FlagTexts = Map<string, string>;

export function durationOf(texts: FlagTexts, problems: FlagProblem[], flag: string, fallback: number): number {
  const text = texts.get(flag);
  if (text === undefined) return fallback;
  const ms = parseDurationMs(text);
  if (ms === undefined) problems.push(invalidValue(flag, text, "a duration with a unit, such as 30s"));
  return ms ?? fallback;
}

export function portOf(texts: FlagTexts, problems: FlagProblem[], flag: string, fallback: number): number {
  const text = texts.get(flag);
  if (text === undefined) return fallback;
  const port = portNumber(text);
  if (port === undefined) problems.push(invalidValue(flag, text, "a port from 1 to 65535"));
  return port ?? fallback;
}

export function portsOf(texts: FlagTexts, problems: FlagProblem[], flag: string): number[] {
  const ports: number[] = [];
  for (const part of partsOf(texts, flag)) {
    const port = portNumber(part);
    if (port === undefined) problems.push(invalidValue(flag, part, "ports from 1 to 65535, separated by commas"));
    else ports.push(port);
  }
  return ports;
}

/** Empty when not set. Host names are refused, because an unresponsive resolver would block the manager. */
export function addressOf(texts: FlagTexts, problems: FlagProblem[], flag: string): string {
  const text = texts.get(flag) ?? "";
  if (text === "" || /^([0-9]{1,3}\.){3}[0-9]{1,3}$/.test(text) || /^[0-9a-fA-F.]*:[0-9a-fA-F:.]{1,44}$/.test(text)) {
    return text;
  }
  problems.push(invalidValue(flag, text, "an IP address, such as 10.1.0.7"));
  return "";
}

export function driverOf(texts: FlagTexts, problems: FlagProblem[], flag: string, fallback: DriverName): DriverName {
  const text = texts.get(flag);
  if (text === undefined) return fallback;
  for (const { name } of DRIVERS) if (name === text) return name;
  problems.push(invalidValue(flag, text, `one of ${DRIVERS.map(({ name }) => name).join(", ")}`));
  return fallback;
}

export function hooksText(hooks: readonly HeldContainer[]): string {
  return hooks.map((hook) => `${hook.container}:${hook.role}`).join(",");
}

export function hooksOf(texts: FlagTexts, problems: FlagProblem[], flag: string): HeldContainer[] {
  const hooks: HeldContainer[] = [];
  for (const part of partsOf(texts, flag)) {
    const separator = part.lastIndexOf(":");
    const role = separator < 1 ? undefined : roleOf(part.slice(separator + 1));
    if (role === undefined) problems.push(invalidValue(flag, part, "CONTAINER:app or CONTAINER:mesh-proxy"));
    else hooks.push({ container: part.slice(0, separator), role });
  }
  return hooks;
}

export function probesText(probes: readonly KubeletProbe[]): string {
  return probes.map((probe) => `${probe.port}:${formatDuration(probe.periodMs)}`).join(",");
}

export function probesOf(texts: FlagTexts, problems: FlagProblem[], flag: string): KubeletProbe[] {
  const probes: KubeletProbe[] = [];
  for (const part of partsOf(texts, flag)) {
    const separator = part.indexOf(":");
    const port = separator < 1 ? undefined : portNumber(part.slice(0, separator));
    const periodMs = separator < 1 ? undefined : parseDurationMs(part.slice(separator + 1));
    if (port === undefined || periodMs === undefined) {
      problems.push(invalidValue(flag, part, "PORT:PERIOD, such as 8080:10s"));
    } else {
      probes.push({ port, periodMs });
    }
  }
  return probes;
}

function partsOf(texts: FlagTexts, flag: string): string[] {
  const text = texts.get(flag);
  return text === undefined ? [] : text.split(",");
}

function portNumber(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function roleOf(text: string): HookRole | undefined {
  if (text === "app" || text === "mesh-proxy") return text;
  return undefined;
}

export function invalidValue(flag: string, value: string, expected: string): FlagProblem {
  return { flag, message: `${flag} got "${value}", expected ${expected}` };
}
