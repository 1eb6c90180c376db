/** Runs the command line with the system's files, streams, signals and clock. */
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
  let hasWriteError = false;
  const interrupt = new AbortController();
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    interrupt.abort();
    // EPIPE means that the reader exited (`| head`), which is not an error.
    if (error.code === "EPIPE" || hasWriteError) return;
    hasWriteError = true;
    process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
  });
  // Writes fail if the reader of standard error has exited. The exit status still reports the result.
  process.stderr.on("error", () => {});
  const status = await runCommandLine(args, { ...SYSTEM, drains: drainPorts(interrupt) });
  await new Promise((resolve) => process.stdout.write("", resolve));
  return hasWriteError ? errorStatusOf(args) : status;
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

const COLUMNS = 120;

function drainPorts(interrupt: AbortController): DrainPorts {
  return {
    // Loaded on demand, because only `drains`, `timeline` and `verify` use a cluster.
    connect: async (choice) => {
      const { connectCluster } = await import("./cluster-connection.ts");
      return connectCluster(choice, { environment: process.env, homeFolder: homedir() });
    },
    nowMs: () => Date.now(),
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
    interruptSignal: () => {
      // `once` restores the default action, so a second signal terminates the process.
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
      return interrupt.signal;
    },
    columns: () => (process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : COLUMNS),
    writeFile: (path, text) => writeFileSync(path, text),
  };
}

async function readStandardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY) process.stderr.write("reading standard input; press Ctrl-D to end it\n");
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

export function listManifests(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return [...manifestsBelow(path)].sort();
}

/** Follows links to files, but not to folders, which may form a cycle. */
function manifestsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return manifestsOrFolder(path);
    if (!/\.(ya?ml|json)$/i.test(entry.name)) return [];
    return entry.isFile() || (entry.isSymbolicLink() && !isLinkToNonFile(path)) ? [path] : [];
  });
}

/** A folder that cannot be listed is returned as if it were a file, so that reading it reports the error. */
function manifestsOrFolder(folder: string): readonly string[] {
  try {
    return manifestsBelow(folder);
  } catch {
    return [folder];
  }
}

/** False for a dangling link, so that reading it reports the error. */
function isLinkToNonFile(link: string): boolean {
  try {
    return !statSync(link).isFile();
  } catch {
    return false;
  }
}
