/** A clock that jumps to the next timer as soon as no other work is pending. */
import type { Clock } from "../../src/demo/clock.ts";

export type VirtualClock = Clock & {
  /** Resolves when the work has settled; waits do not take real time. */
  readonly runUntil: (work: Promise<unknown>) => Promise<void>;
};

type Waiter = { readonly atMs: number; readonly wake: () => void };

export function createVirtualClock(): VirtualClock {
  let nowMs = 0;
  const waiters = new Set<Waiter>();
  return {
    nowMs: () => nowMs,
    wait: (ms, stop) =>
      new Promise((resolve) => {
        if (stop?.aborted === true) {
          resolve();
          return;
        }
        const waiter: Waiter = {
          atMs: nowMs + ms,
          wake: () => {
            waiters.delete(waiter);
            resolve();
          },
        };
        waiters.add(waiter);
        stop?.addEventListener("abort", waiter.wake);
      }),
    runUntil: async (work) => {
      let isSettled = false;
      const watchedWork = work.finally(() => {
        isSettled = true;
      });
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        if (isSettled) break;
        const next = [...waiters].sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) throw new Error("deadlock: no timer is pending");
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
      }
      await watchedWork;
    },
  };
}
