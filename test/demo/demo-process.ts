/** The real demo as a process, in a home folder of its own by which everything it starts can be found again. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { nodeSettings } from "../node-settings.ts";

const LASTCALL = fileURLToPath(new URL("../../src/lastcall.ts", import.meta.url));

export type DemoProcess = {
  readonly home: string;
  readonly child: ChildProcess;
  readonly output: () => string;
  /** The exit status; -1 after a signal. */
  readonly ended: Promise<number>;
  /** Waits, at most 200 s, for a text in the output. */
  readonly says: (text: string) => Promise<void>;
  /** What is left of it: processes by number and command, and files. Waits up to 90 s for it to become nothing. */
  readonly remains: () => Promise<string[]>;
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
    says: async (text) => {
      for (let i = 0; i < 4_000; i++) {
        if (output.includes(text)) return;
        await wait(50);
      }
      throw new Error(`the demo never said "${text}", but: ${output}`);
    },
    remains: async () => {
      for (let i = 0; i < 900; i++) {
        const left = [...processesOf(home), ...readdirSync(home)];
        if (left.length === 0) return left;
        await wait(100);
      }
      return [...processesOf(home), ...readdirSync(home)];
    },
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
