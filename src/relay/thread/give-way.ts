/** Lets other threads of the machine go first. */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Of the relay: a third of the share of a thread that has no such number, where both want the same core. Admissions are
 * waited for by a person or a controller, a word of the relay by a Pod that serves meanwhile.
 */
export const RELAY_NICENESS = 5;

/**
 * Linux keeps a priority for each thread, and lowering one's own takes no right.
 *
 * @returns empty, or why it stays as it was
 */
export function giveWay(niceness: number): string {
  try {
    // Read by this thread itself: the link leads to the thread that follows it.
    const thread = /\/task\/([0-9]+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
    if (thread === undefined) return "the thread's number is not known";
    setPriority(Number(thread), niceness);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
