/** Computes the over-wait: the time for which a drain continued although its settings and its traffic allowed the end. Pure. */
import type { EndedPod } from "../../../src/demo/report/pod-end.ts";

/** The defaults of `drain-delay` and `quiet-period`. */
const DEFAULTS = { delayMs: 5_000, quietMs: 2_000 };

export type DrainTimes = {
  readonly deletedMs: number;
  readonly releasedMs: number;
  /** Time of the withdrawal from EndpointSlices; `undefined` if the withdrawal was not observed. */
  readonly withdrawnMs: number | undefined;
  /** Time of the last request, response or close of a client; `undefined` without clients. */
  readonly lastWorkMs: number | undefined;
};

export function overWaitMs(times: DrainTimes, { delayMs, quietMs }: typeof DEFAULTS): number {
  const delayEndMs = Math.max(times.deletedMs + delayMs, times.withdrawnMs ?? 0);
  const quietEndMs = times.lastWorkMs === undefined ? 0 : times.lastWorkMs + quietMs;
  return Math.round(times.releasedMs - Math.max(delayEndMs, quietEndMs));
}

export type DrainedPod = Pick<EndedPod, "address" | "deletedMs" | "drainSeconds" | "forwardedConnections">;

/**
 * Returns the over-wait in seconds with the default settings. The close of the Pod's last connection counts as the end of its
 * traffic, because requests are not recorded. A drain may end before this close, because it does not wait for idle
 * connections; its over-wait is 0.
 */
export function overWaitSeconds({ address, deletedMs, drainSeconds, forwardedConnections }: DrainedPod): number {
  const closedMs = forwardedConnections.filter(({ pod }) => pod === address).map(({ toMs }) => toMs);
  // A connection is still open, so the deadline ended the drain, and the over-wait is 0.
  if (closedMs.includes(-1)) return 0;
  const lastWorkMs = closedMs.length === 0 ? undefined : Math.max(...closedMs);
  const releasedMs = deletedMs + drainSeconds * 1_000;
  const times = { deletedMs, releasedMs, withdrawnMs: undefined, lastWorkMs };
  return Math.max(0, Math.round(overWaitMs(times, DEFAULTS) / 10) / 100);
}
