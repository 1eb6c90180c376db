/** Creates a clock that the test advances; each step calls all timers, whatever their interval. */
import type { Clock } from "../../src/relay/slices/clock.ts";

export type ManualClock = Clock & {
  /** Advances the clock in steps, and after each step waits for the promises of its timers. */
  readonly advance: (ms: number) => Promise<void>;
  /** Advances the clock in one step, without waiting. */
  readonly jump: (ms: number) => void;
  /** Returns the number of active timers. */
  readonly timerCount: () => number;
};

export function createManualClock(stepMs: number): ManualClock {
  let nowMs = 0;
  const callbacks = new Set<() => void>();
  const jump = (ms: number): void => {
    nowMs += ms;
    for (const callback of [...callbacks]) callback();
  };
  return {
    nowMs: () => nowMs,
    sleep: async () => undefined,
    every: (_ms, callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    jump,
    advance: async (ms) => {
      for (let remainingMs = ms; remainingMs > 0; remainingMs -= stepMs) {
        jump(stepMs);
        for (let round = 0; round < 20; round += 1) await Promise.resolve();
      }
    },
    timerCount: () => callbacks.size,
  };
}
