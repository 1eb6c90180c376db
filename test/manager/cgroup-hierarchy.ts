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
  readonly nowBytes: number;
  readonly peakBytes: number;
  /** Processes killed at the memory limit. */
  readonly outOfMemoryKills: number;
};

export type Hierarchy = {
  readonly root: string;
  readonly limitCpu: (path: string, milliCpu: number) => void;
  readonly limitMemory: (path: string, bytes: number) => void;
  readonly cpuUsage: (path: string) => CpuUsage;
  readonly memoryUsage: (path: string) => MemoryUsage;
};

/** The kubelet's period. A limit of 10m is 1 ms of each period, the kernel's minimum. */
const PERIOD_US = 100_000;
const quotaUs = (milliCpu: number) => Math.max(1_000, (milliCpu * PERIOD_US) / 1_000);

/** On a hybrid host the version depends on the controller. */
export function hierarchyOf(controller: Controller): Hierarchy {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n").map(toMount);
  const old = mounts.find((one) => one.type === "cgroup" && one.options.includes(controller));
  if (old !== undefined) return versionOne(old.path);
  const unified = mounts.find((one) => one.type === "cgroup2")?.path;
  if (unified === undefined) throw new Error(`no cgroups of ${controller} are mounted`);
  if (!fieldsIn(join(unified, "cgroup.controllers")).includes(controller))
    throw new Error(`the cgroups of version 2 are without ${controller}`);
  if (!fieldsIn(join(unified, "cgroup.subtree_control")).includes(controller))
    writeFileSync(join(unified, "cgroup.subtree_control"), `+${controller}`);
  return versionTwo(unified);
}

function toMount(line: string): { readonly path: string; readonly type: string; readonly options: readonly string[] } {
  const [, path = "", type = "", options = ""] = line.split(" ");
  return { path, type, options: options.split(",") };
}

function versionOne(root: string): Hierarchy {
  return {
    root,
    limitCpu: (path, milliCpu) => {
      writeFileSync(join(path, "cpu.cfs_period_us"), String(PERIOD_US));
      writeFileSync(join(path, "cpu.cfs_quota_us"), String(quotaUs(milliCpu)));
    },
    limitMemory: (path, bytes) => {
      writeFileSync(join(path, "memory.limit_in_bytes"), String(bytes));
      const withSwap = join(path, "memory.memsw.limit_in_bytes");
      if (existsSync(withSwap)) writeFileSync(withSwap, String(bytes));
    },
    cpuUsage: (path) => {
      const stat = table(join(path, "cpu.stat"));
      return cpuUsage(stat, stat("throttled_time") / 1_000_000);
    },
    memoryUsage: (path) => ({
      nowBytes: number(join(path, "memory.usage_in_bytes")),
      peakBytes: number(join(path, "memory.max_usage_in_bytes")),
      outOfMemoryKills: table(join(path, "memory.oom_control"))("oom_kill"),
    }),
  };
}

function versionTwo(root: string): Hierarchy {
  return {
    root,
    limitCpu: (path, milliCpu) => writeFileSync(join(path, "cpu.max"), `${quotaUs(milliCpu)} ${PERIOD_US}`),
    limitMemory: (path, bytes) => {
      writeFileSync(join(path, "memory.max"), String(bytes));
      const swap = join(path, "memory.swap.max");
      if (existsSync(swap)) writeFileSync(swap, "0");
    },
    cpuUsage: (path) => {
      const stat = table(join(path, "cpu.stat"));
      return cpuUsage(stat, stat("throttled_usec") / 1_000);
    },
    memoryUsage: (path) => ({
      nowBytes: number(join(path, "memory.current")),
      peakBytes: number(join(path, "memory.peak")),
      outOfMemoryKills: table(join(path, "memory.events"))("oom_kill"),
    }),
  };
}

type Table = (name: string) => number;

function cpuUsage(stat: Table, throttledMs: number): CpuUsage {
  return { periods: stat("nr_periods"), throttledPeriods: stat("nr_throttled"), throttledMs };
}

function fieldsIn(file: string): readonly string[] {
  return readFileSync(file, "utf8").trim().split(" ");
}

function number(file: string): number {
  return Number(readFileSync(file, "utf8"));
}

function table(file: string): Table {
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
