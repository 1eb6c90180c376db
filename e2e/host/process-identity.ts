/** Which process is meant: a number alone may have been given to another one since. */
import { readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  /** Start in clock ticks since boot: two processes of one number never share it. */
  readonly startTicks: number;
};

/** `undefined` when there is no such process, or only its unburied rest. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const fields = statFields(pid);
  const startTicks = Number(fields[19]);
  return fields[0] === undefined || fields[0] === "Z" || Number.isNaN(startTicks) ? undefined : { pid, startTicks };
}

export function isAlive(process: ProcessIdentity): boolean {
  return identityOf(process.pid)?.startTicks === process.startTicks;
}

/** 0 when there is no such process, or none above it. */
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

/** Fields after the name, which may itself hold spaces and brackets: state first, start time twentieth. */
function statFields(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
