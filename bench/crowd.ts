/**
 * `npm run bench:crowd [-- --connections N] [-- --node] [-- --binary FILE]`: drains a Pod with 100 000 real connections (idle,
 * busy, or mixed; IPv4 and IPv6) with a manager limited to 16Mi. Takes four minutes and 2 GB of kernel memory.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildManager } from "../native/build/build.ts";
import { cgroupSkipReason, openCgroup } from "../test/manager/in-cgroup.ts";
import { startCrowdManager } from "./crowd-drain.ts";
import { type CrowdKind, crowdSkipReason, startCrowdPod } from "./crowd-pod.ts";

const NATIVE_LIMIT_MIB = 16;
const NODE_LIMIT_MIB = 512;
const MAX_PEAK_KIB = 8 * 1_024;
const MAX_SHARE_OF_CORE = 0.05;
const FLAGS = ["--drain-delay=5s", "--drain-timeout=60s"];

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "100000" },
    node: { type: "boolean" },
    binary: { type: "string" },
  },
});
const connections = Number(values.connections);
const skipReason = crowdSkipReason();
if (skipReason !== "") {
  process.stderr.write(`bench:crowd: this host lacks a requirement: ${skipReason}\n`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "lastcall-crowd-"));
let missedGoals = 0;
try {
  const command = await managerCommand();
  for (const kind of ["idle", "busy", "mixed"] as const) await measure(kind, command);
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = missedGoals > 0 ? 1 : 0;

async function managerCommand(): Promise<readonly string[]> {
  if (values.node === true) return [process.execPath, join(import.meta.dirname, "../src/manager/node-main.ts")];
  return [values.binary ?? (await buildManager("x64")).file];
}

async function measure(kind: CrowdKind, command: readonly string[]): Promise<void> {
  const limits = { memoryMib: values.node === true ? NODE_LIMIT_MIB : NATIVE_LIMIT_MIB };
  const cgroupSkipText = cgroupSkipReason(limits);
  const cgroup = cgroupSkipText === "" ? openCgroup(limits) : undefined;
  const describeLimit = (): string =>
    cgroup === undefined
      ? cgroupSkipText
      : `${limits.memoryMib} MiB of memory, ${cgroup.readMemoryUsage().outOfMemoryKills} killed`;
  const pod = await startCrowdPod(folder);
  try {
    await pod.open(kind, connections);
    const manager = await startCrowdManager(pod, {
      command,
      port: 17_890,
      flags: FLAGS,
      wrapper: cgroup?.wrapper ?? [],
    });
    const costBefore = manager.readCost();
    const startMs = performance.now();
    try {
      const report = await manager.drain();
      const elapsedMs = performance.now() - startMs;
      const { peakKiB, cpuMs } = manager.readCost();
      const shareOfCore = (cpuMs - costBefore.cpuMs) / elapsedMs;
      const summary = `${report.outcome} after ${(elapsedMs / 1_000).toFixed(1)} s, ${report.leftTotal} open, evidence from ${report.evidenceSource}`;
      printGoal(kind, `peak ${peakKiB} KiB (idle ${costBefore.peakKiB})`, peakKiB <= MAX_PEAK_KIB);
      printGoal(kind, `CPU ${(100 * shareOfCore).toFixed(2)} % of a core`, shareOfCore <= MAX_SHARE_OF_CORE);
      printGoal(
        kind,
        summary,
        report.outcome === (kind === "idle" ? "drained" : "timeout") && report.leftTotal === connections,
      );
      process.stdout.write(`        ${describeLimit()}\n`);
    } catch (error) {
      printGoal(kind, `${String(error)} (${describeLimit()})`, false);
    } finally {
      await manager.end();
    }
  } finally {
    await pod.end();
    await cgroup?.close();
  }
}

function printGoal(kind: CrowdKind, title: string, met: boolean): void {
  if (!met) missedGoals += 1;
  process.stdout.write(`${met ? "met   " : "MISSED"}  ${connections} ${kind} connections: ${title}\n`);
}
