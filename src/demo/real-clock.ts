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
      const dueMs = performance.now() + ms;
      const end = () => {
        clearTimeout(timer);
        stop?.removeEventListener("abort", end);
        resolve();
      };
      const look = () => {
        // A timer may fire a millisecond early, and a wait must not end before its moment.
        const leftMs = dueMs - performance.now();
        if (leftMs <= 0) end();
        else timer = setTimeout(look, Math.ceil(leftMs));
      };
      let timer = setTimeout(look, ms);
      stop?.addEventListener("abort", end);
    }),
};
