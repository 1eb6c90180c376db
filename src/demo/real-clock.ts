/** The one place of the demo that asks the machine for time. */
import { performance } from "node:perf_hooks";
import type { Clock } from "./clock.ts";

export const realClock: Clock = {
  nowMs: () => performance.now(),
  wait: (ms, stop) =>
    new Promise((resolve) => {
      if (stop?.aborted === true) {
        resolve();
        return;
      }
      const over = () => {
        clearTimeout(timer);
        stop?.removeEventListener("abort", over);
        resolve();
      };
      const timer = setTimeout(over, ms);
      stop?.addEventListener("abort", over);
    }),
};
