/** The clock and timers of the relay, as a port; tests pass their own. */
import { setTimeout as sleep } from "node:timers/promises";

export type Clock = {
  readonly nowMs: () => number;
  /** Resolves early, and never rejects, when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly every: (ms: number, callback: () => void) => () => void;
};

export const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
  every: (ms, callback) => {
    const timer = setInterval(callback, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

type Ticker = { readonly start: () => void; readonly stop: () => void };

/** Creates a timer that runs only while there is work; `start` has no effect on a running timer. */
export function createTicker(clock: Pick<Clock, "every">, ms: number, callback: () => void): Ticker {
  let stopTimer: (() => void) | undefined;
  return {
    start: () => {
      stopTimer ??= clock.every(ms, callback);
    },
    stop: () => {
      stopTimer?.();
      stopTimer = undefined;
    },
  };
}
