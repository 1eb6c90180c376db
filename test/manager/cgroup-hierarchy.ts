/** Reads and writes the files of cgroup versions 1 and 2. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const CONTROLLERS = ["cpu", "memory"] as const;
export type Controller = (typeof CONTROLLERS)[number];

export type CpuUsage = {
  /** Periods of 100 ms with runnable tasks. In `throttledPeriods` of them the quota was used up. */
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledMs: number;
};

export type MemoryUsage = {
  /** Includes socket buffers and the page cache. */
  readonly currentBytes: number;
  readonly peakBytes: number;
  /** Processes killed at the memory limit. */
  readonly outOfMemoryKills: number;
};

export type Hierarchy = {
  readonly root: string;
  readonly limitCpu: (path: string, milliCpu: number) => void;
  readonly limitMemory: (path: string, bytes: number) => void;
  readonly readCpuUsage: (path: string) => CpuUsage;
  readonly readMemoryUsage: (path: string) => MemoryUsage;
};

/** The kubelet's period. A limit of 10m is 1 ms of each period, the kernel's minimum. */
const PERIOD_US = 100_000;
const quotaUsOf = (milliCpu: number) => Math.max(1_000, (milliCpu * PERIOD_US) / 1_000);

/** Finds the controller's hierarchy. On a hybrid host the cgroup version differs between controllers. */
export function hierarchyOf(controller: Controller): Hierarchy {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n").map(toMount);
  const versionOneMount = mounts.find((one) => one.type === "cgroup" && one.options.includes(controller));
  if (versionOneMount !== undefined) return createVersionOneHierarchy(versionOneMount.path);
  const versionTwoPath = mounts.find((one) => one.type === "cgroup2")?.path;
  if (versionTwoPath === undefined) throw new Error(`no cgroups of ${controller} are mounted`);
  if (!readFields(join(versionTwoPath, "cgroup.controllers")).includes(controller))
    throw new Error(`the cgroups of version 2 are without ${controller}`);
  if (!readFields(join(versionTwoPath, "cgroup.subtree_control")).includes(controller))
    writeFileSync(join(versionTwoPath, "cgroup.subtree_control"), `+${controller}`);
  return createVersionTwoHierarchy(versionTwoPath);
}

function toMount(line: string): { readonly path: string; readonly type: string; readonly options: readonly string[] } {
  const [, path = "", type = "", options = ""] = line.split(" ");
  return { path, type, options: options.split(",") };
}

function createVersionOneHierarchy(root: string): Hierarchy {
  return {
    root,
    limitCpu: (path, milliCpu) => {
      writeFileSync(join(path, "cpu.cfs_period_us"), String(PERIOD_US));
      writeFileSync(join(path, "cpu.cfs_quota_us"), String(quotaUsOf(milliCpu)));
    },
    limitMemory: (path, bytes) => {
      writeFileSync(join(path, "memory.limit_in_bytes"), String(bytes));
      const memoryAndSwapFile = join(path, "memory.memsw.limit_in_bytes");
      if (existsSync(memoryAndSwapFile)) writeFileSync(memoryAndSwapFile, String(bytes));
    },
    readCpuUsage: (path) => {
      const stat = readTable(join(path, "cpu.stat"));
      return cpuUsage(stat, stat("throttled_time") / 1_000_000);
    },
    readMemoryUsage: (path) => ({
      currentBytes: readNumber(join(path, "memory.usage_in_bytes")),
      peakBytes: readNumber(join(path, "memory.max_usage_in_bytes")),
      outOfMemoryKills: readTable(join(path, "memory.oom_control"))("oom_kill"),
    }),
  };
}

function createVersionTwoHierarchy(root: string): Hierarchy {
  return {
    root,
    limitCpu: (path, milliCpu) => writeFileSync(join(path, "cpu.max"), `${quotaUsOf(milliCpu)} ${PERIOD_US}`),
    limitMemory: (path, bytes) => {
      writeFileSync(join(path, "memory.max"), String(bytes));
      const swapFile = join(path, "memory.swap.max");
      if (existsSync(swapFile)) writeFileSync(swapFile, "0");
    },
    readCpuUsage: (path) => {
      const stat = readTable(join(path, "cpu.stat"));
      return cpuUsage(stat, stat("throttled_usec") / 1_000);
    },
    readMemoryUsage: (path) => ({
      currentBytes: readNumber(join(path, "memory.current")),
      peakBytes: readNumber(join(path, "memory.peak")),
      outOfMemoryKills: readTable(join(path, "memory.events"))("oom_kill"),
    }),
  };
}

type ReadEntry = (name: string) => number;

function cpuUsage(stat: ReadEntry, throttledMs: number): CpuUsage {
  return { periods: stat("nr_periods"), throttledPeriods: stat("nr_throttled"), throttledMs };
}

function readFields(file: string): readonly string[] {
  return readFileSync(file, "utf8").trim().split(" ");
}

function readNumber(file: string): number {
  return Number(readFileSync(file, "utf8"));
}

function readTable(file: string): ReadEntry {
  const entries = new Map(
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => [line.split(" ")[0] ?? "", line]),
  );
  return (name) => {
    const line = entries.get(name);
    if (line === undefined) throw new Error(`${file} does not contain ${name}`);
    return Number(line.slice(name.length));
  };
}
