/** What the kernel remembers of a process: its memory, and how long it waited for a processor. */
import { readFileSync } from "node:fs";

/** @returns `VmHWM` in KiB; 0 for a process that is gone */
export function peakKibOf(pid: number): number {
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? "0");
}

/** @returns milliseconds that its main thread was ready to run and did not; 0 for a process that is gone */
export function waitedMsOf(pid: number): number {
  return Number(textOf(`/proc/${pid}/task/${pid}/schedstat`).split(" ")[1] ?? "0") / 1e6;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
