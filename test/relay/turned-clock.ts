/** A clock that the test moves; its timers are called at every step, whatever their interval. */
import type { Clock } from "../../src/relay/slices/clock.ts";

export type TurnedClock = Clock & {
  /** Waits after each step for the promises that the timers have settled. */
  readonly turn: (ms: number) => Promise<void>;
  /** In one step, without waiting. */
  readonly jump: (ms: number) => void;
  /** Timers that run now. */
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
