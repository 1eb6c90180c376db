/** Creates and removes the parent cgroups of all Pods in every v1 hierarchy, by exact path and never by a pattern. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CGROUP_ROOT } from "../host/this-host.ts";
import { waitUntil } from "../host/wait.ts";
import { NODES, PODS_CGROUP } from "./addresses.ts";

const CGROUP_CONTROLLERS = ["cpu", "cpuacct", "cpuset", "memory", "pids", "devices", "freezer", "blkio", "systemd"];

/**
 * The CPU weight of all Pods together. The default (1024) equals the weight of one process and is lower than on any real node:
 * with the default, and while a dozen compilers ran, a hook took 14 s to start.
 */
const POD_WEIGHT = 32 * 1024;

export function makeCgroups(): void {
  const cgroups = [PODS_CGROUP, ...NODES.map(({ name }) => `${PODS_CGROUP}/${name}`)];
  for (const controller of listHierarchies()) {
    for (const cgroup of cgroups) mkdirSync(join(CGROUP_ROOT, controller, cgroup), { recursive: true });
  }
  const weightFile = join(CGROUP_ROOT, "cpu", PODS_CGROUP, "cpu.shares");
  if (existsSync(weightFile)) writeFileSync(weightFile, String(POD_WEIGHT));
  const cpusetFolder = join(CGROUP_ROOT, "cpuset");
  if (!existsSync(cpusetFolder)) return;
  // A new cpuset has no processors and no memory, and the kernel refuses to add a process to it.
  for (const cgroup of cgroups) {
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      writeFileSync(join(cpusetFolder, cgroup, file), readFileSync(join(cpusetFolder, file)));
    }
  }
}

/** Removes the cgroups bottom-up, and retries until the kernel has released their exited processes. */
export async function removeCgroups(): Promise<void> {
  await waitUntil({ condition: `the cgroups ${PODS_CGROUP} are empty`, withinMs: 10_000 }, () => {
    // Container runtimes also create cgroups in other hierarchies than `makeCgroups`, such as the unified hierarchy.
    for (const hierarchy of readdirSync(CGROUP_ROOT)) removeTree(join(CGROUP_ROOT, hierarchy, PODS_CGROUP));
    return true;
  });
}

function listHierarchies(): readonly string[] {
  return CGROUP_CONTROLLERS.filter((controller) => existsSync(join(CGROUP_ROOT, controller)));
}

function removeTree(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(folder, entry.name));
  }
  rmdirSync(folder);
}
