/** Declares settings of programs as table rows, with constructors for the usual kinds. Pure. */
import { formatDuration, parseDurationMs } from "../contract/duration.ts";
import { isDnsLabel } from "../contract/untrusted-text.ts";

export type Setting<T> = {
  /** Without dashes. The environment variable's name is derived from it. */
  readonly flag: string;
  readonly short?: string;
  /** Placeholder of the value in the help; empty: the flag takes no value. */
  readonly shows: string;
  readonly fallback: T;
  readonly fallbackShows: string;
  /** Completes the sentence "expected …". */
  readonly expects: string;
  readonly summary: string;
  readonly parse: (text: string) => T | undefined;
};

/** Rows by the property name of their value. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
export type ValuesOf<Table> = { readonly [K in keyof Table]: ValueOf<Table[K]> };

export const HOUR_MS = 3_600_000;
/** Node fires timers of more than 24 days at once. */
const LONGEST_WAIT_MS = 24 * HOUR_MS;

export function fileSetting(flag: string, fallbackShows: string, summary: string): Setting<string> {
  const parse = (text: string) => (text === "" || text.includes("\0") ? undefined : text);
  return { flag, shows: "FILE", fallback: "", fallbackShows, expects: "a file name", summary, parse };
}

export function nameSetting(flag: string, fallback: string, summary: string): Setting<string> {
  return {
    flag,
    shows: "NAME",
    fallback,
    fallbackShows: fallback === "" ? "none" : fallback,
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
    shows: "NAME",
    fallback,
    fallbackShows: fallback,
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
    shows: choices.join("|"),
    fallback,
    fallbackShows: fallback,
    expects: `one of ${choices.join(", ")}`,
    summary,
    parse: (text) => choices.find((choice) => choice === text),
  };
}

export function durationSetting(flag: string, fallback: number, summary: string): Setting<number> {
  return {
    flag,
    shows: "DURATION",
    fallback,
    fallbackShows: formatDuration(fallback),
    expects: "a duration with a unit, such as 5s or 500ms",
    summary,
    parse: parseDurationMs,
  };
}

export function waitSetting(
  flag: string,
  fallback: number,
  summary: string,
  limitMs: number = LONGEST_WAIT_MS,
): Setting<number> {
  const setting = durationSetting(flag, fallback, summary);
  const parse = (text: string) => [parseDurationMs(text)].find((ms) => ms !== undefined && ms <= limitMs);
  return { ...setting, expects: `${setting.expects}, of at most ${formatDuration(limitMs)}`, parse };
}

/** @param zero meaning of 0 */
export function portSetting(flag: string, fallback: number, zero: string, summary: string): Setting<number> {
  return {
    flag,
    shows: "PORT",
    fallback,
    fallbackShows: fallback === 0 ? "none" : String(fallback),
    expects: `a port from 1 to 65535, or 0 ${zero}`,
    summary: `${summary}; 0 ${zero}`,
    parse: (text) => (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  };
}

export function booleanSetting(flag: string, summary: string): Setting<boolean> {
  const row = choiceSetting(flag, ["true", "false"], "false", summary);
  return {
    ...row,
    fallback: false,
    parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  };
}

export function switchSetting(flag: string, summary: string): Setting<boolean> {
  return { flag, shows: "", fallback: false, fallbackShows: "", expects: "", summary, parse: () => true };
}
