/** How much longer a Pod was held than its traffic and the defaults of its drain asked for. Pure. */
import type { EndedPod } from "../../../src/demo/report/pod-end.ts";

/** The defaults of `drain-delay` and `quiet-period`. */
const DRAIN_DELAY_MS = 5_000;
const QUIET_PERIOD_MS = 2_000;

export type HeldPod = Pick<EndedPod, "address" | "deletedMs" | "drainSeconds" | "forwarded">;

/**
 * Seconds by which the stop signal came later than both the end of the drain delay and the quiet period after the Pod's
 * last connection was gone; 0 when it came earlier, as idle connections are not waited for.
 */
export function overWaitSeconds({ address, deletedMs, drainSeconds, forwarded }: HeldPod): number {
  const ends = forwarded.filter(({ pod }) => pod === address).map(({ toMs }) => toMs);
  // One is still open: the deadline ended the drain, and nothing was waited for in vain.
  if (ends.includes(-1)) return 0;
  const dueMs = Math.max(deletedMs + DRAIN_DELAY_MS, ...ends.map((toMs) => toMs + QUIET_PERIOD_MS));
  return Math.max(0, Math.round((deletedMs + drainSeconds * 1_000 - dueMs) / 10) / 100);
}
