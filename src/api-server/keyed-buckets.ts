/** A bucket of tokens for each namespace or client address, in bounded memory. Time is an argument. */
import { type Bucket, type BucketSize, fullBucket, takeToken } from "./token-bucket.ts";

export type KeyedBuckets = {
  /** @param nowMs monotonic milliseconds. @returns true when the key had a token left */
  readonly take: (key: string, nowMs: number) => boolean;
  /** Buckets in memory. */
  readonly kept: () => number;
};

/** @param limit buckets in memory; beyond it the one used longest ago starts over as a full one */
export function keyedBuckets(size: BucketSize, limit: number): KeyedBuckets {
  /** The one used longest ago comes first. */
  const buckets = new Map<string, Bucket>();
  const fullAfterMs = size.most * size.refillMs;

  const forget = (nowMs: number): void => {
    for (const [key, { atMs }] of buckets) {
      // A full bucket is the same as none.
      if (buckets.size <= limit && nowMs - atMs < fullAfterMs) return;
      buckets.delete(key);
    }
  };

  return {
    take: (key, nowMs) => {
      const { bucket, taken } = takeToken(buckets.get(key) ?? fullBucket(size, nowMs), size, nowMs);
      buckets.delete(key);
      buckets.set(key, bucket);
      forget(nowMs);
      return taken;
    },
    kept: () => buckets.size,
  };
}

/**
 * The same below one bucket for all keys together. A key that has no token left takes none of the others'.
 *
 * @returns as {@link KeyedBuckets.take}
 */
export function keyedBucketsBelow(overall: BucketSize, size: BucketSize, limit: number): KeyedBuckets["take"] {
  const own = keyedBuckets(size, limit);
  let all: Bucket | undefined;
  return (key, nowMs) => {
    if (!own.take(key, nowMs)) return false;
    const { bucket, taken } = takeToken(all ?? fullBucket(overall, nowMs), overall, nowMs);
    all = bucket;
    return taken;
  };
}
