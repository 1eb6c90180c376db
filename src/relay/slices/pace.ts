/** How often and how long, with reasons; tests run on a quicker one. All in milliseconds unless said otherwise. */

export type SlicePace = {
  /**
   * Life of one watch. The API server sends a bookmark about 2 s before it ends, so every watch says something, and a
   * connection that died without a word is noticed in time for {@link SlicePace.beliefMs}.
   */
  readonly watchMs: number;
  /**
   * What was last heard longer ago is `unknown`. No more than the shortest wait of a drain whose slices were never seen
   * to change: a relay that was cut off from the API server then holds nobody up.
   */
  readonly beliefMs: number;
  /** From one list to the next at the latest. */
  readonly relistMs: number;
  /** Longest pause between two tries; a drain cannot wait for the half minute that caches can. */
  readonly retryLimitMs: number;
  /** One page of a list. */
  readonly askLimitMs: number;
  /** Kept on after the last drainer left: a rollout ends one Pod after another, and each would cost a whole list. */
  readonly lingerMs: number;
  /** How often doubts, lingering and waiting are looked at. */
  readonly lookMs: number;
  /** Slices per page: 1 000 endpoints usually, half a megabyte, which holds admissions up for a few milliseconds. */
  readonly pageSize: number;
  /** Namespaces watched at once; each costs a connection and a request per {@link SlicePace.watchMs}. */
  readonly namespaceLimit: number;
};

export const SLICE_PACE: SlicePace = {
  watchMs: 3_000,
  beliefMs: 5_000,
  relistMs: 5 * 60_000,
  retryLimitMs: 2_000,
  askLimitMs: 5_000,
  lingerMs: 30_000,
  lookMs: 250,
  pageSize: 10,
  namespaceLimit: 500,
};
