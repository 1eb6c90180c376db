/** The command line's connection to the system; with `manifest-files.ts` and `cluster-connection.ts` all that touches it. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { DrainPorts } from "./drain-ports.ts";
import { errorStatusOf } from "./exit-statuses.ts";
import type { Ports } from "./ports.ts";
import { runCommandLine } from "./program.ts";
import { deriveToken } from "./token-source.ts";

export async function main(args: readonly string[]): Promise<number> {
  let isUnwritten = false;
  const left = new AbortController();
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    left.abort();
    // A reader that has seen enough (`| head`) is no error of ours.
    if (error.code === "EPIPE" || isUnwritten) return;
    isUnwritten = true;
    process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
  });
  // The report has no reader: the exit status still tells.
  process.stderr.on("error", () => {});
  const status = await runCommandLine(args, { ...SYSTEM, drains: drainPorts(left) });
  await new Promise((resolve) => process.stdout.write("", resolve));
  return isUnwritten ? errorStatusOf(args) : status;
}

const SYSTEM: Omit<Ports, "drains"> = {
  listManifests,
  readFile: (path) => readFileSync(path),
  readStandardInput,
  out: (text) => {
    process.stdout.write(text);
  },
  err: (text) => {
    process.stderr.write(text);
  },
  deriveToken,
};

/** Of files, and of terminals that do not tell. */
const COLUMNS = 120;

function drainPorts(left: AbortController): DrainPorts {
  return {
    // Loaded by the two commands that speak to a cluster.
    connect: async (choice) => {
      const { connectCluster } = await import("./cluster-connection.ts");
      return connectCluster(choice, { environment: process.env, homeFolder: homedir() });
    },
    nowMs: () => Date.now(),
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
    untilLeft: () => {
      // A second one ends at once, by the system's own rule.
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => left.abort());
      return left.signal;
    },
    columns: () => (process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : COLUMNS),
    writeFile: (path, text) => writeFileSync(path, text),
  };
}

async function readStandardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY) process.stderr.write("reading standard input; Ctrl-D ends it\n");
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** A folder's manifests in name order, folders below included; a file is taken whatever its name. */
export function listManifests(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return [...manifestsBelow(path)].sort();
}

/** Linked files count; linked folders do not, since a link may lead back up. */
function manifestsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return readableOrNamed(path);
    if (!/\.(ya?ml|json)$/i.test(entry.name)) return [];
    return entry.isFile() || (entry.isSymbolicLink() && !leadsElsewhere(path)) ? [path] : [];
  });
}

/** A folder without permission is returned as a path, so that reading it reports the error. */
function readableOrNamed(folder: string): readonly string[] {
  try {
    return manifestsBelow(folder);
  } catch {
    return [folder];
  }
}

/** True for a link to something other than a file. A dangling link is kept, so that reading it reports the error. */
function leadsElsewhere(link: string): boolean {
  try {
    return !statSync(link).isFile();
  } catch {
    return false;
  }
}
