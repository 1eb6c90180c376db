/** Time as the relay is given it. Tests hand in their own. */
import { setTimeout as sleep } from "node:timers/promises";

export type Clock = {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Ends early, and without rejecting, when the signal is given. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Calls again and again until the answer is called; never keeps the process. */
  readonly every: (ms: number, call: () => void) => () => void;
};

/** The real time. */
export const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
  every: (ms, call) => {
    const timer = setInterval(call, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};
