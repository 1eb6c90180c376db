/** How often and how long, with reasons; tests run on a quicker one. All in milliseconds unless said otherwise. */
import type { BucketSize } from "../../api-server/token-buckets.ts";

export type SlicePace = {
  /**
   * Life of one watch. A quiet one says nothing at all, not even a bookmark, so only the next one that is accepted shows
   * that the API server is still there; in time for {@link SlicePace.beliefMs}.
   */
  readonly watchMs: number;
  /**
   * What was last heard longer ago is `unknown`. No more than the shortest wait of a drain whose slices were never seen
   * to change: a relay that was cut off from the API server then delays no drain.
   */
  readonly beliefMs: number;
  /**
   * Watches that are accepted and say nothing are believed for so long, and for {@link SlicePace.silencePerSliceMs} more
   * per slice: then everything is listed. Few slices are listed often, many cost no more than 20 slices a second.
   */
  readonly silenceMs: number;
  readonly silencePerSliceMs: number;
  /**
   * From one list to the next at the latest. Seldom: no change is seen while a large namespace is being listed, and the
   * rules above find a watch that fails.
   */
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
  /**
   * Watches begun at once, and in the long run one per so many milliseconds. Each begins with a list, and who asks about one
   * namespace after the other would have all of them listed without end. As many as may be watched can all begin at once.
   */
  readonly openings: BucketSize;
};

export const SLICE_PACE: SlicePace = {
  watchMs: 2_000,
  beliefMs: 5_000,
  silenceMs: 5_000,
  silencePerSliceMs: 50,
  relistMs: 60 * 60_000,
  retryLimitMs: 2_000,
  askLimitMs: 5_000,
  lingerMs: 30_000,
  lookMs: 250,
  pageSize: 10,
  namespaceLimit: 500,
  openings: { most: 500, refillMs: 50 },
};
