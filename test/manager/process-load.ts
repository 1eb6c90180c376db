/** What a running process costs its machine, read from /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Sockets, however many descriptors each has: the native runtime takes two for a connection. */
export function openSockets(pid: number): number {
  const names = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
  return new Set(names.filter((name) => name.startsWith("socket:"))).size;
}

/** Descriptors come and go while they are counted. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Nothing of it runs until it is told to go on. */
export function isStopped(pid: number): boolean {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).startsWith("T");
}

const TICKS_PER_SECOND = 100;

/** CPU time of user and kernel since its start, in milliseconds; the kernel counts in steps of ten. */
export function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name is in parentheses and may hold spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}
