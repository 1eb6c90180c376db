/** Identifies a process beyond its PID, which the kernel reuses. */
import { readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  /** The start in clock ticks since boot, unique among processes with the same PID. */
  readonly startTicks: number;
};

/** `undefined` without such a process, or for a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const fields = statFields(pid);
  const startTicks = Number(fields[19]);
  return fields[0] === undefined || fields[0] === "Z" || Number.isNaN(startTicks) ? undefined : { pid, startTicks };
}

export function isAlive(process: ProcessIdentity): boolean {
  return identityOf(process.pid)?.startTicks === process.startTicks;
}

/** Returns 0 without such a process or without a parent. */
export function parentOf(pid: number): number {
  return Number(statFields(pid)[1] ?? 0);
}

/** The direct children of a single-threaded process. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Fields after the name, which may contain spaces and brackets: state first, start time twentieth. */
function statFields(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
