/** Computes the over-wait: the time that a Pod was held beyond the needs of its traffic and its settings. Pure. */
import type { EndedPod } from "../../../src/demo/report/pod-end.ts";

/** The defaults of `drain-delay` and `quiet-period`. */
const DEFAULTS = { delayMs: 5_000, quietMs: 2_000 };

export type Held = {
  readonly deletedMs: number;
  readonly releasedMs: number;
  /** Time of the withdrawal from EndpointSlices; `undefined` when it was not observed. */
  readonly withdrawnMs: number | undefined;
  /** Time of the last request, answer or close of a client; `undefined` without clients. */
  readonly lastWorkMs: number | undefined;
};

export function overWaitMs(held: Held, { delayMs, quietMs }: typeof DEFAULTS): number {
  const delayed = Math.max(held.deletedMs + delayMs, held.withdrawnMs ?? 0);
  const quiet = held.lastWorkMs === undefined ? 0 : held.lastWorkMs + quietMs;
  return Math.round(held.releasedMs - Math.max(delayed, quiet));
}

export type HeldPod = Pick<EndedPod, "address" | "deletedMs" | "drainSeconds" | "forwarded">;

/** Seconds past the defaults, from connections instead of requests; at least 0, as the drain does not wait for idle ones. */
export function overWaitSeconds({ address, deletedMs, drainSeconds, forwarded }: HeldPod): number {
  const ends = forwarded.filter(({ pod }) => pod === address).map(({ toMs }) => toMs);
  // A connection is still open, so the deadline ended the drain and there is no over-wait.
  if (ends.includes(-1)) return 0;
  const lastWorkMs = ends.length === 0 ? undefined : Math.max(...ends);
  const releasedMs = deletedMs + drainSeconds * 1_000;
  const held = { deletedMs, releasedMs, withdrawnMs: undefined, lastWorkMs };
  return Math.max(0, Math.round(overWaitMs(held, DEFAULTS) / 10) / 100);
}
