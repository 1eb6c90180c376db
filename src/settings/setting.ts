/** Declares a program's settings as rows of a table, with constructors for the usual types. Pure. */
import { formatDuration, parseDurationMs } from "../contract/duration.ts";
import { isDnsLabel } from "../contract/untrusted-text.ts";

export type Setting<T> = {
  /** Name of the flag without leading dashes; determines the name of the environment variable. */
  readonly flag: string;
  readonly short?: string;
  /** Placeholder of the value in the help; empty if the flag does not take a value. */
  readonly placeholder: string;
  readonly fallback: T;
  readonly defaultText: string;
  /** Completes the sentence "expected …". */
  readonly expects: string;
  readonly summary: string;
  readonly parse: (text: string) => T | undefined;
};

/** The settings of a program, by the property from which the program reads the value. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
export type ValuesOf<Table> = { readonly [K in keyof Table]: ValueOf<Table[K]> };

export const HOUR_MS = 3_600_000;
/** Far below 24 days, above which Node fires a timer immediately. */
const WAIT_LIMIT_MS = 24 * HOUR_MS;

export function fileSetting(flag: string, defaultText: string, summary: string): Setting<string> {
  const parse = (text: string) => (text === "" || text.includes("\0") ? undefined : text);
  return { flag, placeholder: "FILE", fallback: "", defaultText, expects: "a file name", summary, parse };
}

export function nameSetting(flag: string, fallback: string, summary: string): Setting<string> {
  return {
    flag,
    placeholder: "NAME",
    fallback,
    defaultText: fallback === "" ? "none" : fallback,
    expects: "the name of an object: lower-case letters, digits, - and .",
    summary,
    parse: (text) => (isObjectName(text) ? text : undefined),
  };
}

export function isObjectName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text);
}

export function namespaceSetting(flag: string, fallback: string, summary: string): Setting<string> {
  return {
    flag,
    placeholder: "NAME",
    fallback,
    defaultText: fallback,
    expects: "a namespace name, lower-case letters, digits and -",
    summary,
    parse: (text) => (isDnsLabel(text) ? text : undefined),
  };
}

export function choiceSetting<const T extends string>(
  flag: string,
  choices: readonly T[],
  fallback: NoInfer<T>,
  summary: string,
): Setting<T> {
  return {
    flag,
    placeholder: choices.join("|"),
    fallback,
    defaultText: fallback,
    expects: `one of ${choices.join(", ")}`,
    summary,
    parse: (text) => choices.find((choice) => choice === text),
  };
}

export function durationSetting(flag: string, fallback: number, summary: string): Setting<number> {
  return {
    flag,
    placeholder: "DURATION",
    fallback,
    defaultText: formatDuration(fallback),
    expects: "a duration with a unit, such as 5s or 500ms",
    summary,
    parse: parseDurationMs,
  };
}

export function waitSetting(
  flag: string,
  fallback: number,
  summary: string,
  limitMs: number = WAIT_LIMIT_MS,
): Setting<number> {
  const setting = durationSetting(flag, fallback, summary);
  const parse = (text: string) => [parseDurationMs(text)].find((ms) => ms !== undefined && ms <= limitMs);
  return { ...setting, expects: `${setting.expects}, of at most ${formatDuration(limitMs)}`, parse };
}

/** @param meaningOfZero completes the sentence "a port, or 0 …" */
export function portSetting(flag: string, fallback: number, meaningOfZero: string, summary: string): Setting<number> {
  return {
    flag,
    placeholder: "PORT",
    fallback,
    defaultText: fallback === 0 ? "none" : String(fallback),
    expects: `a port from 1 to 65535, or 0 ${meaningOfZero}`,
    summary: `${summary}; 0 ${meaningOfZero}`,
    parse: (text) => (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  };
}

export function booleanSetting(flag: string, summary: string): Setting<boolean> {
  const choice = choiceSetting(flag, ["true", "false"], "false", summary);
  return {
    ...choice,
    fallback: false,
    parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  };
}

export function switchSetting(flag: string, summary: string): Setting<boolean> {
  return { flag, placeholder: "", fallback: false, defaultText: "", expects: "", summary, parse: () => true };
}
