/** Clock of the demo, passed as an argument: tests pass a virtual one. */
import { performance } from "node:perf_hooks";
import { setTimeout as timeout } from "node:timers/promises";

export type Clock = {
  /** Monotonic milliseconds from an arbitrary start. */
  readonly nowMs: () => number;
  /** Resolves after `ms`, or at once when `stop` is aborted; never rejects. */
  readonly wait: (ms: number, stop?: AbortSignal) => Promise<void>;
};

/** Resolves to `done` if the promise settles within `ms`, otherwise to `late`. Does not cancel the operation. */
export async function waitAtMost(clock: Clock, ms: number, promise: Promise<unknown>): Promise<"done" | "late"> {
  const stop = new AbortController();
  const settled = Promise.allSettled([promise]).then(() => "done" as const);
  const late = clock.wait(ms, stop.signal).then(() => "late" as const);
  const winner = await Promise.race([settled, late]);
  stop.abort();
  return winner;
}

export const realClock: Clock = {
  nowMs: () => performance.now(),
  wait: async (ms, stop) => {
    const dueMs = performance.now() + ms;
    // Node's timers may fire a millisecond early.
    for (let remainingMs = ms; remainingMs > 0 && stop?.aborted !== true; remainingMs = dueMs - performance.now())
      await timeout(Math.ceil(remainingMs), undefined, { signal: stop }).catch(() => {});
  },
};
