/** Lists processes in /proc. */
import { readdirSync, readFileSync } from "node:fs";

export function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((one) => parentOf(one) === pid);
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? -1 : Number(parent);
  } catch {
    return -1;
  }
}

export const isAlive = (pid: number) => parentOf(pid) >= 0;
