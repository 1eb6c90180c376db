/** Reads flags and environment variables by a table of settings to the end, and collects all mistakes. */
import { parseArgs } from "node:util";
import { nearest } from "../policy/nearest.ts";
import { quote } from "../policy/quote.ts";
import type { Setting, SettingTable, ValuesOf } from "./setting.ts";

/** One bad flag or variable: `where` names it, `message` is a sentence. */
export type SettingProblem = { readonly where: string; readonly message: string };

export type ReadSettings<Table> = {
  readonly settings: ValuesOf<Table>;
  readonly problems: readonly SettingProblem[];
  /** Names of the rows whose flag was given. */
  readonly given: ReadonlySet<keyof Table>;
  /** Only the help was asked for. */
  readonly help: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A flag wins over its variable; both are checked. A setting with a problem keeps its default.
 *
 * @param environment empty for programs that read none
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
  reportNearVariables(
    rows.map(([, { flag }]) => flag),
    environment,
    problems,
  );
  const settings = rows.map(([key, row]) => {
    const fromVariable = parseText(row, variableOf(row.flag), variableText(row, environment), problems);
    const fromFlag = parseText(row, `--${row.flag}`, texts.get(row.flag), problems);
    return [key, fromFlag ?? fromVariable ?? row.fallback];
  });
  return {
    settings: Object.freeze(Object.fromEntries(settings)),
    problems,
    given: new Set(rows.filter(([, { flag }]) => texts.has(flag)).map(([key]) => key)),
    help,
  };
}

export function problemText({ where, message }: SettingProblem): string {
  return `${where}: ${message}`;
}

const HELP_WIDTH = 34;

/** One row for each setting of the table. */
export function helpRows(table: SettingTable): string {
  return Object.values(table).map(helpRow).join("");
}

function helpRow({ flag, short, shows, summary, fallbackShows }: Setting<unknown>): string {
  const head = `  ${short === undefined ? "" : `-${short}, `}--${flag}${shows === "" ? "" : ` ${shows}`}`;
  const text = fallbackShows === "" ? summary : `${summary} (default: ${fallbackShows})`;
  return head.length < HELP_WIDTH
    ? `${head.padEnd(HELP_WIDTH)}${text}\n`
    : `${head}\n${" ".repeat(HELP_WIDTH)}${text}\n`;
}

/** `drain-delay` is also `LASTCALL_DRAIN_DELAY`. */
export function variableOf(flag: string): string {
  return `LASTCALL_${flag.toUpperCase().replaceAll("-", "_")}`;
}

type GivenFlags = { readonly texts: ReadonlyMap<string, string>; readonly help: boolean };

function readFlags(rows: readonly Setting<unknown>[], args: readonly string[], problems: SettingProblem[]): GivenFlags {
  const texts = new Map<string, string>();
  let help = false;
  const options = Object.fromEntries(
    rows.map(({ flag, short, shows }) => [
      flag,
      { type: shows === "" ? ("boolean" as const) : ("string" as const), ...(short === undefined ? {} : { short }) },
    ]),
  );
  // Not strict: the parser would stop at the first mistake.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") {
      problems.push({ where: quote(token.value), message: "No word is expected here, only flags." });
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
  const row = rows.find(({ flag }) => flag === name);
  if (row === undefined) {
    const guess = nearest(
      name,
      rows.map(({ flag }) => flag),
    );
    const hint = guess === undefined ? "see --help" : `did you mean --${guess}?`;
    problems.push({ where: quote(where), message: `There is no such flag; ${hint}` });
  } else if (row.shows === "" && value !== undefined) {
    problems.push({ where, message: "It takes no value." });
  } else if (row.shows !== "" && (value === undefined || value.startsWith("--"))) {
    problems.push({ where, message: "A value is missing." });
  } else if (texts.has(name)) {
    problems.push({ where, message: "The flag is given twice." });
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
 * Kubernetes describes every Service of the namespace in variables: one named `lastcall` gives each Pod
 * `LASTCALL_PORT=tcp://10.96.0.7:443`. Such a value was never meant for us.
 */
function variableText({ flag }: Setting<unknown>, environment: Environment): string | undefined {
  const text = environment[variableOf(flag)];
  return text === undefined || /^(tcp|udp|sctp):\/\//.test(text) ? undefined : text;
}

/** A slip of the finger in a variable's name would otherwise be a silent default. */
function reportNearVariables(flags: readonly string[], environment: Environment, problems: SettingProblem[]): void {
  const known = flags.map(variableOf);
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith("LASTCALL_") || known.includes(name) || isServiceLink(name, text ?? "")) continue;
    const word = name.slice("LASTCALL_".length).toLowerCase().replaceAll("_", "-");
    const guess = nearest(word, flags);
    if (guess === undefined) continue;
    problems.push({ where: quote(name), message: `There is no such variable; did you mean ${variableOf(guess)}?` });
  }
}

function isServiceLink(name: string, text: string): boolean {
  return /_SERVICE_(HOST|PORT)(_|$)|_PORT_[0-9]+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(text);
}
