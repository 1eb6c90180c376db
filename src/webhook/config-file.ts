/** Reads the cluster configuration from a YAML file. Invalid values are problems; only an unreadable file is a fault. */
import { readFileSync } from "node:fs";
import { type Alias, type Document, LineCounter, parseDocument, visit } from "yaml";
import { Fault } from "../fault.ts";
import { type ClusterConfig, DEFAULT_CONFIG, readClusterConfig } from "../policy/cluster-config.ts";
import { quote } from "../policy/quote.ts";
import type { SettingProblem } from "../settings/read-settings.ts";

export type ConfigFileReading = { readonly config: ClusterConfig; readonly problems: readonly SettingProblem[] };

/** @throws Fault ERR_INPUT_UNREADABLE when the file cannot be read. */
export function readConfigFile(path: string): ConfigFileReading {
  return parseConfigText(readText(path), path);
}

export function parseConfigText(text: string, path: string): ConfigFileReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      where: `${path}, line ${lines.linePos(error.pos[0]).line}`,
      message: `Invalid YAML: ${quote(error.message)}`,
    }));
    return { config: DEFAULT_CONFIG, problems };
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // The YAML library reports unresolved and excessive aliases only by throwing from this conversion.
    return { config: DEFAULT_CONFIG, problems: [aliasProblem(document, { lines, path, error })] };
  }
  const reading = readClusterConfig(value);
  return {
    config: reading.config,
    problems: reading.problems.map((problem) => ({ where: `${path}, ${problem.where}`, message: problem.message })),
  };
}

function aliasProblem(
  document: Document.Parsed,
  { lines, path, error }: { readonly lines: LineCounter; readonly path: string; readonly error: unknown },
): SettingProblem {
  let unresolved: Alias | undefined;
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return undefined;
      unresolved = alias;
      return visit.BREAK;
    },
  });
  if (unresolved === undefined) {
    const reason = quote(error instanceof Error ? error.message : String(error));
    return { where: path, message: `The aliases (*name) cannot be expanded: ${reason}. Remove nested aliases.` };
  }
  const { line } = lines.linePos(unresolved.range?.[0] ?? 0);
  const message = `The alias ${quote(`*${unresolved.source}`)} refers to an anchor that is not defined before it. Define the anchor first.`;
  return { where: `${path}, line ${line}`, message };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Fault("ERR_INPUT_UNREADABLE", path, error);
  }
}
