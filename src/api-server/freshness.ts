/** Tracks when the API server last updated a cache, and whether the cache is stale. Pure. */

/** Longest time between two lists, because a watch can stop sending events without an error. */
export const RELIST_MS = 5 * 60_000;

/** Allows for one missed list and its retries. */
export const STALE_AFTER_MS = RELIST_MS + 60_000;

export type Freshness = {
  /** Monotonic milliseconds of the last list, event, bookmark or accepted watch; `undefined` before the first list. */
  readonly lastResponseMs: number | undefined;
  /** The last failure since `lastResponseMs`, for the log. */
  readonly failure: string | undefined;
};

export const NEVER_SYNCED: Freshness = { lastResponseMs: undefined, failure: undefined };

export function isStale(freshness: Freshness, nowMs: number): boolean {
  return freshness.lastResponseMs === undefined || nowMs - freshness.lastResponseMs > STALE_AFTER_MS;
}

/** `change` is set on the first failure after a success and on the first success after a failure. */
export type FreshnessUpdate = { readonly freshness: Freshness; readonly change: "lost" | "back" | undefined };

export function afterResponse(freshness: Freshness, nowMs: number): FreshnessUpdate {
  const change = freshness.failure === undefined ? undefined : "back";
  return { freshness: { lastResponseMs: nowMs, failure: undefined }, change };
}

export function afterFailure(freshness: Freshness, failure: string): FreshnessUpdate {
  return { freshness: { ...freshness, failure }, change: freshness.failure === undefined ? "lost" : undefined };
}
