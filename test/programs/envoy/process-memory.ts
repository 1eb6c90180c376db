/** The most memory a process has held, as the kernel remembers it. */
import { readFileSync } from "node:fs";

/** @returns `VmHWM` in KiB; 0 for a process that is gone */
export function peakKibOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0");
  } catch {
    return 0;
  }
}
