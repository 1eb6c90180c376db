/** Formats `DrainSettings` as flags of `serve`, and parses them. */
import type { DrainSettings } from "./drain-settings.ts";
import type { FlagProblem, FlagTexts } from "./flag-values.ts";
import {
  alwaysWrittenFlags,
  enabledSwitches,
  optionalFlags,
  SWITCH_FLAGS,
  settingsOf,
  VALUE_FLAGS,
} from "./manager-flags.ts";

type ParsedFlags = { readonly settings: DrainSettings; readonly problems: readonly FlagProblem[] };

/** Writes the flags in a fixed order. Common flags are always written, so that `kubectl describe` shows them; others only when set. */
export function formatServeFlags(settings: DrainSettings): string[] {
  const flags: string[] = [];
  for (const { flag, text } of alwaysWrittenFlags(settings)) flags.push(`${flag}=${text}`);
  for (const { flag, text } of optionalFlags(settings)) if (text !== "") flags.push(`${flag}=${text}`);
  for (const flag of enabledSwitches(settings)) flags.push(flag);
  return flags;
}

/** Collects all problems. A flag with a problem has its default value. */
export function parseServeFlags(args: readonly string[]): ParsedFlags {
  const problems: FlagProblem[] = [];
  const texts = splitFlags(args, problems);
  const settings = settingsOf(texts, problems);
  return { settings, problems };
}

function splitFlags(args: readonly string[], problems: FlagProblem[]): FlagTexts {
  const texts: FlagTexts = new Map();
  for (const arg of args) {
    const separator = arg.indexOf("=");
    const flag = separator < 0 ? arg : arg.slice(0, separator);
    const message = flagError(flag, separator < 0 ? undefined : arg.slice(separator + 1), texts);
    if (message === "") texts.set(flag, separator < 0 ? "" : arg.slice(separator + 1));
    else problems.push({ flag, message });
  }
  return texts;
}

/** @returns "" for a valid flag */
function flagError(flag: string, value: string | undefined, earlierFlags: FlagTexts): string {
  const isSwitch = SWITCH_FLAGS.includes(flag);
  if (!isSwitch && !VALUE_FLAGS.includes(flag))
    return `unknown flag ${flag}; expected one of ${[...VALUE_FLAGS, ...SWITCH_FLAGS].join(" ")}`;
  if (earlierFlags.has(flag)) return `${flag} is set more than once`;
  if (isSwitch && value !== undefined) return `${flag} takes no value`;
  if (!isSwitch && (value === undefined || value === "")) return `${flag} needs a value, written ${flag}=VALUE`;
  return "";
}
