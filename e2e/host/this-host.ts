/** Describes the host of the cluster, because results depend on it. */
import { existsSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { attempt } from "./run.ts";

export type CgroupMode = "v1" | "v2" | "none";

export type Host = {
  readonly kernel: string;
  readonly cgroups: CgroupMode;
  readonly containerd: string;
  readonly runc: string;
};

export const CGROUP_ROOT = "/sys/fs/cgroup";

export function readCgroupMode(): CgroupMode {
  if (existsSync(`${CGROUP_ROOT}/cgroup.controllers`)) return "v2";
  return existsSync(`${CGROUP_ROOT}/memory/tasks`) ? "v1" : "none";
}

/** @param containerd the folder of containerd's programs */
export async function describeHost(containerd: string): Promise<Host> {
  const [runtime, runc] = await Promise.all([
    attempt(join(containerd, "containerd"), ["--version"]),
    attempt("runc", ["--version"]),
  ]);
  return {
    kernel: release(),
    cgroups: readCgroupMode(),
    containerd: /\bv?([0-9]+\.[0-9]+\.[0-9]+)/.exec(runtime.output)?.[1] ?? "unknown",
    runc: /runc version (\S+)/.exec(runc.output)?.[1] ?? "unknown",
  };
}

/** Describes the memory and the processors, which explain a slow run. */
export function describeMachineSize(): string {
  const memory = /MemTotal: +([0-9]+) kB/.exec(readFileSync("/proc/meminfo", "utf8"))?.[1] ?? "0";
  const processors = readFileSync("/proc/cpuinfo", "utf8").match(/^processor/gm)?.length ?? 0;
  return `${processors} cores, ${Math.round(Number(memory) / 1024 / 1024)} GiB`;
}
