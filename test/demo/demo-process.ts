/** The real demo as a process, in a home folder of its own by which everything it starts can be found again. */
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
  /** The exit status; -1 after a signal. */
  readonly ended: Promise<number>;
  /** Waits for a text in the output. */
  readonly says: (text: string) => Promise<void>;
  /** Waits until none of its processes and files is left. */
  readonly leavesNothing: () => Promise<void>;
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
    says: (text) => eventually(() => expect(output).toContain(text)),
    leavesNothing: () => eventually(() => expect([...processesOf(home), ...readdirSync(home)]).toEqual([])),
    remove: () => {
      // Only a failed test leaves some; on loopback addresses they would outlive a kill of the demo.
      for (const line of processesOf(home)) killQuietly(Number(line.split(" ")[0]));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Everything the demo starts carries its home folder in its environment. */
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
    // It left by itself meanwhile.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
