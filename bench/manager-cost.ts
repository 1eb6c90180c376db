/** Reads memory, threads and context switches of a process from /proc. */
import { readdirSync, readFileSync } from "node:fs";

export type Memory = {
  readonly rssKiB: number;
  readonly pssKiB: number;
  readonly anonymousKiB: number;
};

export function readMemory(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return {
    rssKiB: numberAfter(text, "Rss:"),
    pssKiB: numberAfter(text, "Pss:"),
    anonymousKiB: numberAfter(text, "Anonymous:"),
  };
}

export function countThreads(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).length;
}

/** Counts voluntary and involuntary context switches of all threads. A sleeping process does not add any. */
export function countContextSwitches(pid: number): number {
  let switches = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    switches += numberAfter(text, "\nvoluntary_ctxt_switches:") + numberAfter(text, "nonvoluntary_ctxt_switches:");
  }
  return switches;
}

function numberAfter(text: string, name: string): number {
  const found = text.indexOf(name);
  if (found < 0) throw new Error(`/proc has no field ${name.trim()}`);
  return Number.parseInt(text.slice(found + name.length), 10);
}
