/** A setting of a program as one row of a table, and the usual kinds of rows. Pure. */
import { formatDuration, parseDurationMs } from "../contract/duration.ts";
import { isDnsLabel } from "../contract/outside-text.ts";

export type Setting<T> = {
  /** Without the dashes; the environment variable is derived from it. */
  readonly flag: string;
  /** One letter. */
  readonly short?: string;
  /** What stands for the value in the help; empty: the flag takes none, and `parse` gets an empty text. */
  readonly shows: string;
  readonly fallback: T;
  readonly fallbackShows: string;
  /** Completes the sentence "expected …". */
  readonly expects: string;
  readonly summary: string;
  /** `undefined` when the text is not such a value. */
  readonly parse: (text: string) => T | undefined;
};

/** Rows by the name under which the program reads the value. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
export type ValuesOf<Table> = { readonly [K in keyof Table]: ValueOf<Table[K]> };

export const HOUR_MS = 3_600_000;
/** A timer of more than 24 days would fire at once. */
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

/** @param zero what 0 means */
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

/** `true` or `false` as text, which a chart can write either way. */
export function booleanSetting(flag: string, summary: string): Setting<boolean> {
  const row = choiceSetting(flag, ["true", "false"], "false", summary);
  return {
    ...row,
    fallback: false,
    parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  };
}

/** A flag without a value. */
export function switchSetting(flag: string, summary: string): Setting<boolean> {
  return { flag, shows: "", fallback: false, fallbackShows: "", expects: "", summary, parse: () => true };
}
