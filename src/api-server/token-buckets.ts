/** Token buckets: single ones, and keyed ones in bounded memory. Time is an argument. */

export type KeyedBuckets = {
  readonly take: (key: string, nowMs: number) => boolean;
  readonly kept: () => number;
};

/** @param limit buckets in memory; beyond it the least recently used is dropped and starts over as a full one */
export function keyedBuckets(size: BucketSize, limit: number): KeyedBuckets {
  const buckets = new Map<string, Bucket>();
  const fullAfterMs = size.capacity * size.refillMs;

  const forget = (nowMs: number): void => {
    for (const [key, { atMs }] of buckets) {
      // A full bucket equals a missing one.
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
 * Keyed buckets below one shared bucket. A key with an empty bucket takes nothing from the shared one.
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

export type BucketSize = {
  /** Also the longest burst. */
  readonly capacity: number;
  readonly refillMs: number;
};

export type Bucket = { readonly tokens: number; readonly atMs: number };

export function fullBucket(size: BucketSize, nowMs: number): Bucket {
  return { tokens: size.capacity, atMs: nowMs };
}

export function takeToken(
  bucket: Bucket,
  { capacity, refillMs }: BucketSize,
  nowMs: number,
): { readonly bucket: Bucket; readonly taken: boolean } {
  const gained = Math.max(0, nowMs - bucket.atMs) / refillMs;
  const tokens = Math.min(capacity, bucket.tokens + gained);
  const taken = tokens >= 1;
  return { bucket: { tokens: taken ? tokens - 1 : tokens, atMs: Math.max(nowMs, bucket.atMs) }, taken };
}
