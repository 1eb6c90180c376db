/** Identifies a process beyond its PID, which the kernel reuses. */
import { readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  /** The start in clock ticks since boot, unique among processes with the same PID. */
  readonly startTicks: number;
};

/** Returns `undefined` if no process has the PID, or if the process is a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const fields = statFields(pid);
  const startTicks = Number(fields[19]);
  return fields[0] === undefined || fields[0] === "Z" || Number.isNaN(startTicks) ? undefined : { pid, startTicks };
}

export function isAlive(process: ProcessIdentity): boolean {
  return identityOf(process.pid)?.startTicks === process.startTicks;
}

/** Returns the PID of the parent; 0 if no process has the PID, or the process has no parent. */
export function parentOf(pid: number): number {
  return Number(statFields(pid)[1] ?? 0);
}

/** Lists the direct children of a single-threaded process. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Returns the fields of `stat` after the name, which may contain spaces and brackets: first the state, as the twentieth the start time. */
function statFields(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
