/** The command line's connection to the system; the only file of the room that touches it. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Ports } from "./ports.ts";
import { runCommandLine } from "./program.ts";

export function main(args: readonly string[]): Promise<number> {
  // A reader that has seen enough (`| head`) is no error of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  return runCommandLine(args, SYSTEM);
}

const SYSTEM: Ports = {
  listManifests,
  readFile: (path) => readFileSync(path),
  readStandardInput,
  out: (text) => {
    process.stdout.write(text);
  },
  err: (text) => {
    process.stderr.write(text);
  },
  randomToken: () => randomBytes(16).toString("hex"),
};

/** A folder's manifests in name order, folders below included; a file is taken whatever its name. */
export function listManifests(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
