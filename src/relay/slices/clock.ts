/** The clock and timers of the relay, as a port; tests pass their own. */
import { setTimeout as sleep } from "node:timers/promises";

export type Clock = {
  readonly nowMs: () => number;
  /** Resolves early, and never rejects, when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly every: (ms: number, call: () => void) => () => void;
};

export const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
  every: (ms, call) => {
    const timer = setInterval(call, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

type Ticker = { readonly start: () => void; readonly stop: () => void };

/** A timer that runs only while there is work; `start` has no effect on a running one. */
export function createTicker(clock: Pick<Clock, "every">, ms: number, call: () => void): Ticker {
  let end: (() => void) | undefined;
  return {
    start: () => {
      end ??= clock.every(ms, call);
    },
    stop: () => {
      end?.();
      end = undefined;
    },
  };
}
