/** Runs programs under the CPU or memory limit of a container, in a cgroup of version 1 or 2. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../time/eventually.ts";
import {
  CONTROLLERS,
  type Controller,
  type CpuUsage,
  type Hierarchy,
  hierarchyOf,
  type MemoryUsage,
} from "./cgroup-hierarchy.ts";

/** A resource without a limit is unlimited, as in a container's `resources.limits`. */
export type Limits = { readonly milliCpu?: number; readonly memoryMib?: number };

export type Cgroup = {
  /** Command prefix that enters the cgroup before the program starts. */
  readonly wrapper: readonly string[];
  readonly readCpuUsage: () => CpuUsage;
  readonly readMemoryUsage: () => MemoryUsage;
  /** Kills remaining processes and removes the cgroup. */
  readonly close: () => Promise<void>;
};

/** @returns the reason for skipping the tests; empty if this host supports such a cgroup */
export function cgroupSkipReason(limits: Limits): string {
  try {
    for (const folder of foldersOf(limits)) rmdirSync(folder.path);
    return "";
  } catch (error) {
    return `no cgroup with ${controllersOf(limits).join(" and ")} here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export function openCgroup(limits: Limits): Cgroup {
  const folders = foldersOf(limits);
  const folderOf = (controller: Controller) => {
    const folder = folders.find((one) => one.controller === controller);
    if (folder === undefined) throw new Error(`this cgroup was made without a limit of ${controller}`);
    return folder;
  };
  return {
    // `$0` is the program, which replaces the shell and keeps the child's pid.
    wrapper: ["sh", "-c", `${folders.map(({ path }) => `echo $$ >${path}/cgroup.procs && `).join("")}exec "$0" "$@"`],
    readCpuUsage: () => folderOf("cpu").hierarchy.readCpuUsage(folderOf("cpu").path),
    readMemoryUsage: () => folderOf("memory").hierarchy.readMemoryUsage(folderOf("memory").path),
    close: async () => {
      for (const { path } of folders) await removeCgroup(path);
    },
  };
}

type Folder = { readonly controller: Controller; readonly hierarchy: Hierarchy; readonly path: string };

function controllersOf(limits: Limits): readonly Controller[] {
  return CONTROLLERS.filter((one) => (one === "cpu" ? limits.milliCpu : limits.memoryMib) !== undefined);
}

const PREFIX = "lastcall-test-";
let lastNumber = 0;

/** Creates a cgroup for each limit; in version 2 both limits have the same cgroup. */
function foldersOf(limits: Limits): readonly Folder[] {
  lastNumber += 1;
  const name = `${PREFIX}${process.pid}-${lastNumber}`;
  return controllersOf(limits).map((controller) => {
    const hierarchy = hierarchyOf(controller);
    removeLeftovers(hierarchy.root);
    const path = join(hierarchy.root, name);
    mkdirSync(path, { recursive: true });
    if (controller === "cpu") hierarchy.limitCpu(path, limits.milliCpu ?? 0);
    else hierarchy.limitMemory(path, (limits.memoryMib ?? 0) * 1024 * 1024);
    return { controller, hierarchy, path };
  });
}

/** Removes cgroups that killed runs left. The kernel refuses to remove a cgroup that has processes. */
function removeLeftovers(root: string): void {
  for (const entry of readdirSync(root)) {
    const owner = entry.startsWith(PREFIX) ? entry.slice(PREFIX.length).split("-")[0] : undefined;
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    try {
      rmdirSync(join(root, entry));
    } catch {
      // The cgroup still has a process, or another test removed the cgroup.
    }
  }
}

async function removeCgroup(path: string): Promise<void> {
  // Killed processes leave the cgroup with a delay.
  await eventually(() => {
    if (!existsSync(path)) return;
    for (const pid of readFileSync(join(path, "cgroup.procs"), "utf8").split("\n")) if (pid !== "") kill(Number(pid));
    rmdirSync(path);
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has exited.
  }
}
