/** When a cache last heard from the API server, and whether that is too long ago to believe it. Pure. */

/** From the end of one list to the next at the latest, whatever the watch says: a watch can fall silent without an error. */
export const RELIST_MS = 5 * 60_000;

/** One missed list with its repetitions; a healthy cluster never gets there. */
export const STALE_AFTER_MS = RELIST_MS + 60_000;

export type Freshness = {
  /** Monotonic milliseconds of the last list, event, bookmark or accepted watch; `undefined` before the first list. */
  readonly heardMs: number | undefined;
  /** What failed since, for the log. */
  readonly failure: string | undefined;
};

export const NEVER_HEARD: Freshness = { heardMs: undefined, failure: undefined };

export function isStale(freshness: Freshness, nowMs: number): boolean {
  return freshness.heardMs === undefined || nowMs - freshness.heardMs > STALE_AFTER_MS;
}

/** `change` is set when it is worth a report: the first failure after success, and the first success after failure. */
export type Heard = { readonly freshness: Freshness; readonly change: "lost" | "back" | undefined };

export function onHeard(freshness: Freshness, nowMs: number): Heard {
  const change = freshness.failure === undefined ? undefined : "back";
  return { freshness: { heardMs: nowMs, failure: undefined }, change };
}

export function onFailed(freshness: Freshness, failure: string): Heard {
  return { freshness: { ...freshness, failure }, change: freshness.failure === undefined ? "lost" : undefined };
}
