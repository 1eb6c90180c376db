/** Intervals and limits of the slice watches, in milliseconds unless the name has another unit; tests use shorter ones. */

export const SLICE_PACE = {
  /**
   * Life of one watch. A quiet watch sends not even a bookmark, so only the next accepted one proves that the API server
   * is still there; shorter than beliefMs.
   */
  watchMs: 2_000,
  /**
   * Slices whose last sign of life is older are `unknown`. No longer than the shortest wait of a drain whose slices never
   * changed: a relay without API server then delays no drain.
   */
  beliefMs: 5_000,
  /** Accepted but silent watches are believed this long, plus a time per slice: then lists cost at most 20 slices a second. */
  silenceMs: 5_000,
  silencePerSliceMs: 50,
  /** Longest time between two lists. Rare: no change is seen while a large namespace is being listed. */
  relistMs: 60 * 60_000,
  /** Longest pause between two tries; a drain cannot wait for the half minute that caches can. */
  retryLimitMs: 2_000,
  /** One page of a list. */
  askLimitMs: 5_000,
  /** Kept after the last drain: a rollout ends one Pod after another, and each would cost a whole list. */
  lingerMs: 30_000,
  /** Between two checks of doubts, lingering and waiting. */
  lookMs: 250,
  /** Slices per page: usually 1 000 endpoints, half a megabyte, which block the thread for a few milliseconds. */
  pageSize: 10,
  /** Namespaces watched at once; each costs a connection and a request per watchMs. */
  namespaceLimit: 500,
  /** Watches started at once and per time: each starts with a list, and a client may name any number of namespaces. */
  openings: { most: 500, refillMs: 50 },
};

export type SlicePace = typeof SLICE_PACE;
