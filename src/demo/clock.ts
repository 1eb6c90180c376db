/** Time as the demo's parts see it. Only `main` makes the real one; tests make one that jumps. */

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
