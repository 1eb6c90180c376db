/** Starts a Python program that prints its results line by line and exits at the end of its input. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { CommandLine } from "../install/program-of.ts";

type Peer = { readonly write: (line: string) => void; readonly stop: () => Promise<void> };

/** Resolves after the first line of output. Rejects if the process exits earlier. */
export async function startPeer(
  { command: [python = "python3"], environment }: CommandLine,
  args: readonly string[],
  onLine: (line: string) => void,
): Promise<Peer> {
  const child = spawn(python, args, {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => {});
  await new Promise<void>((ready, failed) => {
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`the peer exited early with status ${code}: ${args.join(" ")}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      onLine(line);
      ready();
    });
  });
  return {
    write: (line) => child.stdin.write(`${line}\n`),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}
