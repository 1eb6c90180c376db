/** One drain of a Pod with a crowd: what it says, and what it cost the manager. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { DrainReport } from "../src/contract/drain-report.ts";
import { APP_PORTS, type CrowdPod } from "./crowd-pod.ts";
import { endProcess, said } from "./manager-pod.ts";

export type CrowdManager = {
  readonly pid: number;
  /** Its own preStop hook, to the end. @throws where it ends without a report: the manager is gone */
  readonly drain: () => Promise<DrainReport>;
  readonly cost: () => ManagerCost;
  readonly end: () => Promise<void>;
};

export type ManagerCost = {
  /** The most that was ever resident. */
  readonly peakKiB: number;
  /** Of user and kernel since the start. */
  readonly cpuMs: number;
};

const MS_PER_TICK = 10;

export type CrowdStart = {
  readonly command: readonly string[];
  /** Several managers may share the Pod. */
  readonly port: number;
  readonly flags: readonly string[];
  /** Words before the command, such as those of a cgroup. */
  readonly wrapper: readonly string[];
};

export async function startCrowdManager(pod: CrowdPod, manager: CrowdStart): Promise<CrowdManager> {
  const { command, flags, wrapper } = manager;
  const port = `--port=${manager.port}`;
  const start = (words: readonly string[]): ChildProcess => {
    const [program = "", ...args] = [...pod.inside, ...words];
    const env = { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: "crowd" };
    return spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  };
  const child = start([...wrapper, ...command, "serve", `--drain-ports=${APP_PORTS.join(",")}`, port, ...flags]);
  await said(child, '"listening"');
  child.stdout?.resume();
  const pid = child.pid ?? 0;
  return {
    pid,
    drain: async () => {
      const asking = start([...command, "drain", port]);
      let text = "";
      asking.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      await once(asking, "close");
      if (text === "") throw new Error(`no report: the manager ended with ${child.exitCode ?? child.signalCode}`);
      const report: DrainReport = JSON.parse(text);
      return report;
    },
    cost: () => {
      const peak = /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      // After the name in brackets: utime and stime are the 12th and 13th.
      const words = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return { peakKiB: Number(peak), cpuMs: (Number(words[11]) + Number(words[12])) * MS_PER_TICK };
    },
    end: () => endProcess(child),
  };
}
