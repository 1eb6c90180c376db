/** The kinds of settings: how a flag's text is read, what the help shows of it, and a problem of one. */
import { formatDuration, parseDurationMs } from "../contract/duration.ts";

export const HOUR_MS = 3_600_000;
const LONGEST_WAIT_MS = 24 * HOUR_MS; // A timer of more than 24 days would fire at once.

/** One bad flag or variable: `where` names it, `message` is a sentence. */
export type SettingProblem = { readonly where: string; readonly message: string };

export type Setting<T> = {
  /** Without the dashes; the environment variable is derived from it. */
  readonly flag: string;
  readonly shows: string;
  readonly fallback: T;
  readonly fallbackShows: string;
  /** Completes the sentence "expected …". */
  readonly expects: string;
  readonly summary: string;
  /** `undefined` when the text is not such a value. */
  readonly parse: (text: string) => T | undefined;
};

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

export function waitSetting(flag: string, fallback: number, summary: string): Setting<number> {
  const setting = durationSetting(flag, fallback, summary);
  const parse = (text: string) => [parseDurationMs(text)].find((ms) => ms !== undefined && ms <= LONGEST_WAIT_MS);
  return { ...setting, expects: `${setting.expects}, of at most ${formatDuration(LONGEST_WAIT_MS)}`, parse };
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

/** `zero` says what 0 means. */
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

/** Off unless it is said. */
export function switchSetting(flag: string, summary: string): Setting<boolean> {
  const parse = (text: string) => (text === "true" ? true : text === "false" ? false : undefined);
  return {
    flag,
    shows: "true|false",
    fallback: false,
    fallbackShows: "false",
    expects: "one of true, false",
    summary,
    parse,
  };
}
