/** Runs the demo as a process. Its HOME, a temporary directory, identifies all processes that it starts. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { nodeSettings } from "../node-settings.ts";
import { eventually } from "../time/eventually.ts";

const LASTCALL = fileURLToPath(new URL("../../src/lastcall.ts", import.meta.url));

export type DemoProcess = {
  readonly home: string;
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Exit status; -1 if a signal ended the demo. */
  readonly ended: Promise<number>;
  /** Waits for a text in the output. */
  readonly untilPrinted: (text: string) => Promise<void>;
  /** Waits until all processes and files of the demo are gone. */
  readonly untilCleanedUp: () => Promise<void>;
  readonly remove: () => void;
};

export function startDemo(...args: readonly string[]): DemoProcess {
  const home = mkdtempSync(join(tmpdir(), "lastcall-demo-test-"));
  const child = spawn(process.execPath, [LASTCALL, "demo", ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, ...nodeSettings() },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    output += String(chunk);
  });
  const ended = new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? -1)));
  return {
    home,
    child,
    output: () => output,
    ended,
    untilPrinted: (text) => eventually(() => expect(output).toContain(text)),
    untilCleanedUp: () => eventually(() => expect([...processesOf(home), ...readdirSync(home)]).toEqual([])),
    remove: () => {
      // After a failed test, processes on loopback addresses may outlive the demo.
      for (const line of processesOf(home)) killQuietly(Number(line.split(" ")[0]));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function processesOf(home: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(`HOME=${home}`))
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ESRCH: the process has exited.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
