/** Runs a manager in a Pod with many connections, drains it, and measures the manager's memory and CPU time. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { DrainReport } from "../src/contract/drain-report.ts";
import { APP_PORTS, type CrowdPod } from "./crowd-pod.ts";
import { endProcess, waitForOutput } from "./manager-pod.ts";

export type CrowdManager = {
  readonly pid: number;
  /** Runs the manager's own preStop hook to the end of the drain. @throws when the manager ends without a report */
  readonly drain: () => Promise<DrainReport>;
  readonly readCost: () => ManagerCost;
  readonly end: () => Promise<void>;
};

export type ManagerCost = {
  readonly peakKiB: number;
  readonly cpuMs: number;
};

const MS_PER_TICK = 10;

export type ManagerStart = {
  readonly command: readonly string[];
  readonly port: number;
  readonly flags: readonly string[];
  readonly wrapper: readonly string[];
};

export async function startCrowdManager(pod: CrowdPod, manager: ManagerStart): Promise<CrowdManager> {
  const { command, flags, wrapper } = manager;
  const port = `--port=${manager.port}`;
  const start = (command: readonly string[]): ChildProcess => {
    const [program = "", ...args] = [...pod.enterCommand, ...command];
    const env = { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: "crowd" };
    return spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  };
  const child = start([...wrapper, ...command, "serve", `--drain-ports=${APP_PORTS.join(",")}`, port, ...flags]);
  await waitForOutput(child, '"listening"');
  child.stdout?.resume();
  const pid = child.pid ?? 0;
  return {
    pid,
    drain: async () => {
      const hookProcess = start([...command, "drain", port]);
      let text = "";
      hookProcess.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      await once(hookProcess, "close");
      if (text === "") throw new Error(`no report: the manager ended with ${child.exitCode ?? child.signalCode}`);
      const report: DrainReport = JSON.parse(text);
      return report;
    },
    readCost: () => {
      const peak = /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      // utime and stime are the 12th and 13th field after the name in brackets.
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return { peakKiB: Number(peak), cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK };
    },
    end: () => endProcess(child),
  };
}
