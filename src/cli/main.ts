/** The command line's connection to the system; with `manifest-files.ts` the only file of the room that touches it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { EXIT_ERROR } from "./exit-statuses.ts";
import { listManifests } from "./manifest-files.ts";
import type { Ports } from "./ports.ts";
import { runCommandLine } from "./program.ts";

export async function main(args: readonly string[]): Promise<number> {
  let isUnwritten = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`| head`) is no error of ours.
    if (error.code === "EPIPE" || isUnwritten) return;
    isUnwritten = true;
    process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
  });
  // Nobody reads the report: the exit status still tells.
  process.stderr.on("error", () => {});
  const status = await runCommandLine(args, SYSTEM);
  await new Promise((resolve) => process.stdout.write("", resolve));
  return isUnwritten ? EXIT_ERROR : status;
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

async function readStandardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY) process.stderr.write("reading manifests from standard input; Ctrl-D ends them\n");
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
