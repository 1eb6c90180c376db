/** A clock that the test moves; each step calls all its timers, whatever their interval. */
import type { Clock } from "../../src/relay/slices/clock.ts";

export type TurnedClock = Clock & {
  /** Moves the clock in steps, and waits after each for the promises of its timers. */
  readonly turn: (ms: number) => Promise<void>;
  /** Moves the clock in one step, without waiting. */
  readonly jump: (ms: number) => void;
  /** The number of active timers. */
  readonly timers: () => number;
};

export function turnedClock(stepMs: number): TurnedClock {
  let nowMs = 0;
  const calls = new Set<() => void>();
  const jump = (ms: number): void => {
    nowMs += ms;
    for (const call of [...calls]) call();
  };
  return {
    nowMs: () => nowMs,
    sleep: async () => undefined,
    every: (_ms, call) => {
      calls.add(call);
      return () => calls.delete(call);
    },
    jump,
    turn: async (ms) => {
      for (let left = ms; left > 0; left -= stepMs) {
        jump(stepMs);
        for (let round = 0; round < 20; round += 1) await Promise.resolve();
      }
    },
    timers: () => calls.size,
  };
}
