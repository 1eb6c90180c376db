/** Reads the file of `--config`, which has the format of the webhook's configuration file, and prints all its problems. */
import { type ClusterConfig, DEFAULT_CONFIG, readClusterConfig } from "../policy/cluster-config.ts";
import { decodeManifest } from "./manifest/decode.ts";
import { parseManifest } from "./manifest/parse.ts";
import { problemLine, systemMessage } from "./open-manifests.ts";
import type { Ports } from "./ports.ts";

export function readConfig(path: string | undefined, ports: Ports): ClusterConfig | undefined {
  if (path === undefined) return DEFAULT_CONFIG;
  const reading = parseConfig(path, ports);
  for (const line of reading.problems) ports.err(`error: ${line}\n`);
  return reading.problems.length === 0 ? reading.config : undefined;
}

type ReadConfig = { readonly config: ClusterConfig; readonly problems: readonly string[] };

function parseConfig(path: string, ports: Ports): ReadConfig {
  const readFailure = (message: string): ReadConfig => ({ config: DEFAULT_CONFIG, problems: [`${path}: ${message}`] });
  let bytes: Uint8Array;
  try {
    bytes = ports.readFile(path);
  } catch (cause) {
    return readFailure(systemMessage(cause));
  }
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) return readFailure(decoded.message);
  const { documents, problems } = parseManifest(decoded.text);
  if (problems.length > 0) {
    return { config: DEFAULT_CONFIG, problems: problems.map((problem) => problemLine({ ...problem, file: path })) };
  }
  if (documents.length > 1) return readFailure(`has ${documents.length} documents, expected one`);
  const reading = readClusterConfig(documents[0]?.value);
  return {
    config: reading.config,
    problems: reading.problems.map(({ where, message }) => `${path}, ${where}: ${message}`),
  };
}
