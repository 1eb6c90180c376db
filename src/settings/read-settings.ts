/** Reads flags and environment variables by a table of settings, and collects all problems. */
import { parseArgs } from "node:util";
import { findNearest } from "../policy/nearest.ts";
import { quote } from "../policy/quote.ts";
import type { Setting, SettingTable, ValuesOf } from "./setting.ts";

export type SettingProblem = { readonly where: string; readonly message: string };

export type ReadSettings<Table> = {
  readonly settings: ValuesOf<Table>;
  readonly problems: readonly SettingProblem[];
  /** Settings whose flag is on the command line. */
  readonly flagsSet: ReadonlySet<keyof Table>;
  readonly help: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A flag overrides its environment variable; both are validated. A setting with a problem keeps its default.
 *
 * @param environment empty for programs that do not read variables
 */
export function readByTable<const Table extends SettingTable>(
  table: Table,
  args: readonly string[],
  environment: Environment = {},
): ReadSettings<Table> {
  const rows = Object.entries(table);
  const problems: SettingProblem[] = [];
  const { texts, help } = readFlags(
    rows.map(([, row]) => row),
    args,
    problems,
  );
  reportMisspeltVariables(
    rows.map(([, { flag }]) => flag),
    environment,
    problems,
  );
  const settings = rows.map(([key, row]) => {
    const variableValue = parseText(row, variableOf(row.flag), variableText(row, environment), problems);
    const flagValue = parseText(row, `--${row.flag}`, texts.get(row.flag), problems);
    return [key, flagValue ?? variableValue ?? row.fallback];
  });
  return {
    settings: Object.freeze(Object.fromEntries(settings)),
    problems,
    flagsSet: new Set(rows.filter(([, { flag }]) => texts.has(flag)).map(([key]) => key)),
    help,
  };
}

export function problemText({ where, message }: SettingProblem): string {
  return `${where}: ${message}`;
}

const HELP_WIDTH = 34;

export function helpRows(table: SettingTable): string {
  return Object.values(table).map(helpRow).join("");
}

function helpRow({ flag, short, placeholder, summary, defaultText }: Setting<unknown>): string {
  const flagColumn = `  ${short === undefined ? "" : `-${short}, `}--${flag}${placeholder === "" ? "" : ` ${placeholder}`}`;
  const text = defaultText === "" ? summary : `${summary} (default: ${defaultText})`;
  return flagColumn.length < HELP_WIDTH
    ? `${flagColumn.padEnd(HELP_WIDTH)}${text}\n`
    : `${flagColumn}\n${" ".repeat(HELP_WIDTH)}${text}\n`;
}

/** Returns `LASTCALL_DRAIN_DELAY` for the flag `drain-delay`. */
export function variableOf(flag: string): string {
  return `LASTCALL_${flag.toUpperCase().replaceAll("-", "_")}`;
}

type ParsedFlags = { readonly texts: ReadonlyMap<string, string>; readonly help: boolean };

function readFlags(
  rows: readonly Setting<unknown>[],
  args: readonly string[],
  problems: SettingProblem[],
): ParsedFlags {
  const texts = new Map<string, string>();
  let help = false;
  const options = Object.fromEntries(
    rows.map(({ flag, short, placeholder }) => [
      flag,
      {
        type: placeholder === "" ? ("boolean" as const) : ("string" as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  // In strict mode the parser stops at the first error.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") {
      problems.push({ where: quote(token.value), message: "Unexpected argument; only flags are allowed." });
    } else if (token.kind === "option" && (token.name === "help" || token.name === "h")) help = true;
    else if (token.kind === "option") readFlag(token, rows, texts, problems);
  }
  return { texts, help };
}

type FlagToken = { readonly name: string; readonly rawName: string; readonly value?: string | undefined };

function readFlag(
  { name, rawName: where, value }: FlagToken,
  rows: readonly Setting<unknown>[],
  texts: Map<string, string>,
  problems: SettingProblem[],
): void {
  const setting = rows.find(({ flag }) => flag === name);
  if (setting === undefined) {
    const suggestion = findNearest(
      name,
      rows.map(({ flag }) => flag),
    );
    const hint = suggestion === undefined ? "see --help" : `did you mean --${suggestion}?`;
    problems.push({ where: quote(where), message: `Unknown flag; ${hint}` });
  } else if (setting.placeholder === "" && value !== undefined) {
    problems.push({ where, message: "Takes no value." });
  } else if (setting.placeholder !== "" && (value === undefined || value.startsWith("--"))) {
    problems.push({ where, message: "Missing value." });
  } else if (texts.has(name)) {
    problems.push({ where, message: "Set more than once." });
  } else texts.set(name, value ?? "");
}

function parseText<T>(
  setting: Setting<T>,
  where: string,
  text: string | undefined,
  problems: SettingProblem[],
): T | undefined {
  if (text === undefined) return undefined;
  const value = setting.parse(text);
  if (value === undefined) problems.push({ where, message: `Got ${quote(text)}, expected ${setting.expects}.` });
  return value;
}

/**
 * Ignores service links: Kubernetes sets variables for every Service of the namespace, so a Service named `lastcall` sets
 * `LASTCALL_PORT=tcp://10.96.0.7:443` in each Pod.
 */
function variableText({ flag }: Setting<unknown>, environment: Environment): string | undefined {
  const text = environment[variableOf(flag)];
  return text === undefined || /^(tcp|udp|sctp):\/\//.test(text) ? undefined : text;
}

function reportMisspeltVariables(flags: readonly string[], environment: Environment, problems: SettingProblem[]): void {
  const knownVariables = flags.map(variableOf);
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith("LASTCALL_") || knownVariables.includes(name) || isServiceLink(name, text ?? "")) continue;
    const flagName = name.slice("LASTCALL_".length).toLowerCase().replaceAll("_", "-");
    const suggestion = findNearest(flagName, flags);
    if (suggestion === undefined) continue;
    problems.push({ where: quote(name), message: `Unknown variable; did you mean ${variableOf(suggestion)}?` });
  }
}

function isServiceLink(name: string, text: string): boolean {
  return /_SERVICE_(HOST|PORT)(_|$)|_PORT_[0-9]+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(text);
}
