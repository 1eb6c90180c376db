/** When a container that ended starts again. Pure. */

/** The kubelet looks about once a second, and starts it at once the first time. */
const FIRST_MS = 500;
const BACK_OFF_MS = 10_000;
const LONGEST_MS = 300_000;
/** A container that ran this long is forgiven. */
export const FORGIVEN_AFTER_MS = 600_000;

export type Restarts = {
  /** How often it was started again without being forgiven. */
  readonly count: number;
  readonly startedMs: number;
};

/** @param count restarts so far; they double the back-off up to 5 minutes */
export function restartDelayMs(count: number): number {
  return count === 0 ? FIRST_MS : Math.min(LONGEST_MS, BACK_OFF_MS * 2 ** (count - 1));
}

/** After an exit at `nowMs`: what counts for its next start. */
export function countedRestarts({ count, startedMs }: Restarts, nowMs: number): number {
  return nowMs - startedMs >= FORGIVEN_AFTER_MS ? 0 : count;
}
