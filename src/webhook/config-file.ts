/** Reads the cluster configuration from a YAML file. Invalid values are problems; only an unreadable file is a fault. */
import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
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
  const reading = readClusterConfig(plainValue(() => document.toJS()));
  return {
    config: reading.config,
    problems: reading.problems.map((problem) => ({ where: `${path}, ${problem.where}`, message: problem.message })),
  };
}

/** Handles excessive and unresolved aliases: the YAML library reports them only by throwing from this conversion. */
function plainValue(convert: () => unknown): unknown {
  try {
    return convert();
  } catch (error) {
    return `a document that cannot be resolved (${String(error)})`;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Fault("ERR_INPUT_UNREADABLE", path, error);
  }
}
