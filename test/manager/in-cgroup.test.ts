/** Tests the CPU and memory limits that other tests rely on. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Cgroup, cgroupSkipReason, type Limits, openCgroup } from "./in-cgroup.ts";
import { isAlive } from "./processes.ts";

function describeWith(limits: Limits, title: string, cases: () => void): void {
  const reason = cgroupSkipReason(limits);
  describe.skipIf(reason !== "")(reason === "" ? title : `${title} (${reason})`, cases);
}

function openCgroupForTest(limits: Limits): Cgroup {
  const cgroup = openCgroup(limits);
  onTestFinished(() => cgroup.close());
  return cgroup;
}

function startNode(cgroup: Cgroup, program: string): { readonly pid: number; readonly ended: Promise<string> } {
  const [command = "", ...args] = [...cgroup.wrapper, process.execPath, "-e", program];
  const child = spawn(command, args, { stdio: "ignore" });
  const ended = new Promise<string>((resolve) => child.on("close", (code, signal) => resolve(signal ?? String(code))));
  return { pid: child.pid ?? 0, ended };
}

/** Less CPU than a program gets on a busy host, so only the limit can cause the throttling. */
const LOW_CPU = { milliCpu: 50 };

describeWith(LOW_CPU, "under a limit of CPU", () => {
  test("a program that needs a whole core is throttled", async () => {
    const cgroup = openCgroupForTest(LOW_CPU);
    await startNode(cgroup, "while (process.cpuUsage().user < 60_000);").ended;
    expect(cgroup.readCpuUsage().throttledPeriods).toBeGreaterThan(5);
    expect(cgroup.readCpuUsage().periods).toBeGreaterThanOrEqual(cgroup.readCpuUsage().throttledPeriods);
    expect(cgroup.readCpuUsage().throttledMs).toBeGreaterThan(0);
  });
});

const ALLOCATE_256_MIB = "const held = []; for (let n = 0; n < 64; n += 1) held.push(Buffer.alloc(4 << 20, 1));";

describeWith({ memoryMib: 100 }, "under a limit of memory", () => {
  test("a program that exceeds the memory limit is killed, and the kill is counted", async () => {
    const cgroup = openCgroupForTest({ memoryMib: 100 });
    expect(await startNode(cgroup, ALLOCATE_256_MIB).ended).toBe("SIGKILL");
    expect(cgroup.readMemoryUsage().outOfMemoryKills).toBe(1);
    expect(cgroup.readMemoryUsage().peakBytes).toBe(100 * 1024 * 1024);
  });

  test("a program below the memory limit exits, and its peak of memory is still readable", async () => {
    const cgroup = openCgroupForTest({ memoryMib: 600, milliCpu: 2_000 });
    expect(await startNode(cgroup, ALLOCATE_256_MIB).ended).toBe("0");
    expect(cgroup.readMemoryUsage().outOfMemoryKills).toBe(0);
    expect(cgroup.readMemoryUsage().peakBytes).toBeGreaterThan(256 * 1024 * 1024);
    expect(cgroup.readMemoryUsage().currentBytes).toBeLessThan(cgroup.readMemoryUsage().peakBytes);
  });

  test("a program that does not exit is killed when its cgroup is removed", async () => {
    const cgroup = openCgroup({ memoryMib: 600 });
    const { pid, ended } = startNode(cgroup, "setInterval(() => {}, 1_000);");
    while (cgroup.readMemoryUsage().currentBytes === 0) await new Promise((resolve) => setImmediate(resolve));
    await cgroup.close();
    expect(await ended).toBe("SIGKILL");
    expect(isAlive(pid)).toBe(false);
    const folder = /\/[^ ]*lastcall-test-[0-9-]+/.exec(cgroup.wrapper.join(" "))?.[0] ?? "";
    expect(existsSync(folder)).toBe(false);
  });
});
