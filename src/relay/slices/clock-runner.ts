/** The real time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "./clock.ts";

export const REAL_CLOCK: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
  every: (ms, call) => {
    const timer = setInterval(call, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};
