/** A program under the CPU or memory limit of a container: a cgroup of version 1 or 2, or the reason why there is none. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../time/eventually.ts";
import {
  CONTROLLERS,
  type Controller,
  type CpuFigures,
  type Hierarchy,
  hierarchyOf,
  type MemoryFigures,
} from "./cgroup-hierarchy.ts";

/** As a container's `resources.limits`. What is absent is not limited. */
export type Limits = { readonly milliCpu?: number; readonly memoryMib?: number };

export type Cgroup = {
  /** Words before a program and its arguments; it is in its cgroup before it begins. */
  readonly wrapper: readonly string[];
  readonly cpu: () => CpuFigures;
  readonly memory: () => MemoryFigures;
  /** Kills what is left in it, and removes it. */
  readonly close: () => Promise<void>;
};

/** Empty, or why this host gives no such cgroup. For a skip's title. */
export function whyNoCgroup(limits: Limits): string {
  try {
    for (const folder of foldersOf(limits)) rmdirSync(folder.path);
    return "";
  } catch (error) {
    return `no cgroup with ${wantedBy(limits).join(" and ")} here: ${error instanceof Error ? error.message : String(error)}`;
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
    // `$0` is the program: a shell that replaces itself, so that its number stays the child's.
    wrapper: ["sh", "-c", `${folders.map(({ path }) => `echo $$ >${path}/cgroup.procs && `).join("")}exec "$0" "$@"`],
    cpu: () => folderOf("cpu").hierarchy.cpuFigures(folderOf("cpu").path),
    memory: () => folderOf("memory").hierarchy.memoryFigures(folderOf("memory").path),
    close: async () => {
      for (const { path } of folders) await removed(path);
    },
  };
}

type Folder = { readonly controller: Controller; readonly hierarchy: Hierarchy; readonly path: string };

function wantedBy(limits: Limits): readonly Controller[] {
  return CONTROLLERS.filter((one) => (one === "cpu" ? limits.milliCpu : limits.memoryMib) !== undefined);
}

const PREFIX = "lastcall-test-";
let lastNumber = 0;

/** Both limits may live in one hierarchy or in one each. No two processes share a name. */
function foldersOf(limits: Limits): readonly Folder[] {
  lastNumber += 1;
  const name = `${PREFIX}${process.pid}-${lastNumber}`;
  return wantedBy(limits).map((controller) => {
    const hierarchy = hierarchyOf(controller);
    removeLeftovers(hierarchy.root);
    const path = join(hierarchy.root, name);
    mkdirSync(path, { recursive: true });
    if (controller === "cpu") hierarchy.limitCpu(path, limits.milliCpu ?? 0);
    else hierarchy.limitMemory(path, (limits.memoryMib ?? 0) * 1024 * 1024);
    return { controller, hierarchy, path };
  });
}

/** Of runs that were killed. The kernel removes none that has a process. */
function removeLeftovers(root: string): void {
  for (const entry of readdirSync(root)) {
    const owner = entry.startsWith(PREFIX) ? entry.slice(PREFIX.length).split("-")[0] : undefined;
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    try {
      rmdirSync(join(root, entry));
    } catch {
      // Something in it outlived its test, or another test was faster.
    }
  }
}

async function removed(path: string): Promise<void> {
  // A process that was killed leaves a little later.
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
    // It has ended by itself.
  }
}
