/** Time as the demo's parts see it. Only `main` makes the real one; tests make one that jumps. */
import { performance } from "node:perf_hooks";

export type Clock = {
  /** Monotonic milliseconds from an arbitrary start. */
  readonly nowMs: () => number;
  /** Resolves after `ms`, or at once when `stop` is aborted; never rejects. */
  readonly wait: (ms: number, stop?: AbortSignal) => Promise<void>;
};

/** `done` when the work ended (well or badly) within `ms`, else `late`. The work itself is not cancelled. */
export async function waitAtMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<"done" | "late"> {
  const stop = new AbortController();
  const ended = work.then(
    () => "done" as const,
    () => "done" as const,
  );
  const late = clock.wait(ms, stop.signal).then(() => "late" as const);
  const first = await Promise.race([ended, late]);
  stop.abort();
  return first;
}

/** The only place of the demo that reads the host's clock. */
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
