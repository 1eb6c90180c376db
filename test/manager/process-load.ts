/** Reads the sockets, state and CPU time of a process from /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Counts sockets, not descriptors, because the native runtime has two descriptors per connection. */
export function countOpenSockets(pid: number): number {
  const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
  return new Set(targets.filter((name) => name.startsWith("socket:"))).size;
}

/** @returns an empty text if the descriptor was closed during the count */
function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Whether SIGSTOP has taken effect. */
export function isStopped(pid: number): boolean {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).startsWith("T");
}

const TICKS_PER_SECOND = 100;

/** User and system CPU time since the start, in ms with a resolution of 10 ms. */
export function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}
