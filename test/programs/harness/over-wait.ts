/** How much longer a Pod was held than its traffic and the settings of its drain asked for. Pure. */
import type { EndedPod } from "../../../src/demo/report/pod-end.ts";

/** The defaults of `drain-delay` and `quiet-period`. */
const DEFAULTS = { delayMs: 5_000, quietMs: 2_000 };

export type Held = {
  readonly deletedMs: number;
  readonly releasedMs: number;
  /** When slices stopped offering it; `undefined` when no one saw that. */
  readonly withdrawnMs: number | undefined;
  /** When a client last asked it, was answered by it or left it; `undefined` when none ever came. */
  readonly lastWorkMs: number | undefined;
};

/** Milliseconds past the drain delay, the withdrawal and the quiet period behind the last work; below 0: it was held less long. */
export function overWaitMs(held: Held, { delayMs, quietMs }: typeof DEFAULTS): number {
  const delayed = Math.max(held.deletedMs + delayMs, held.withdrawnMs ?? 0);
  const quiet = held.lastWorkMs === undefined ? 0 : held.lastWorkMs + quietMs;
  return Math.round(held.releasedMs - Math.max(delayed, quiet));
}

export type HeldPod = Pick<EndedPod, "address" | "deletedMs" | "drainSeconds" | "forwarded">;

/** The same with the defaults, in seconds, for connections instead of requests; never below 0, as idle ones are not waited for. */
export function overWaitSeconds({ address, deletedMs, drainSeconds, forwarded }: HeldPod): number {
  const ends = forwarded.filter(({ pod }) => pod === address).map(({ toMs }) => toMs);
  // One is still open: the deadline ended the drain, and nothing was waited for in vain.
  if (ends.includes(-1)) return 0;
  const lastWorkMs = ends.length === 0 ? undefined : Math.max(...ends);
  const releasedMs = deletedMs + drainSeconds * 1_000;
  const held = { deletedMs, releasedMs, withdrawnMs: undefined, lastWorkMs };
  return Math.max(0, Math.round(overWaitMs(held, DEFAULTS) / 10) / 100);
}
