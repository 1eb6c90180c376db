/** Token buckets: a single bucket, and buckets by key in limited memory. The caller passes the time. */

export type KeyedBuckets = {
  readonly take: (key: string, nowMs: number) => boolean;
  readonly count: () => number;
};

/** @param limit maximum number of buckets in memory; above it the least recently used one is dropped, so its key has a full bucket again */
export function createKeyedBuckets(size: BucketSize, limit: number): KeyedBuckets {
  const buckets = new Map<string, Bucket>();
  const fullAfterMs = size.capacity * size.refillMs;

  const evict = (nowMs: number): void => {
    for (const [key, { atMs }] of buckets) {
      // A full bucket is equivalent to a missing one.
      if (buckets.size <= limit && nowMs - atMs < fullAfterMs) return;
      buckets.delete(key);
    }
  };

  return {
    take: (key, nowMs) => {
      const { bucket, isTaken } = takeToken(buckets.get(key) ?? createFullBucket(size, nowMs), size, nowMs);
      buckets.delete(key);
      buckets.set(key, bucket);
      evict(nowMs);
      return isTaken;
    },
    count: () => buckets.size,
  };
}

/**
 * Limits each key with a bucket of its own, and all keys together with a shared bucket. A key with an empty bucket does not take a
 * token from the shared bucket.
 *
 * @returns a function like {@link KeyedBuckets.take}
 */
export function createNestedBuckets(overall: BucketSize, size: BucketSize, limit: number): KeyedBuckets["take"] {
  const keyBuckets = createKeyedBuckets(size, limit);
  let sharedBucket: Bucket | undefined;
  return (key, nowMs) => {
    if (!keyBuckets.take(key, nowMs)) return false;
    const { bucket, isTaken } = takeToken(sharedBucket ?? createFullBucket(overall, nowMs), overall, nowMs);
    sharedBucket = bucket;
    return isTaken;
  };
}

export type BucketSize = {
  /** Tokens of a full bucket; also the longest burst. */
  readonly capacity: number;
  readonly refillMs: number;
};

export type Bucket = { readonly tokens: number; readonly atMs: number };

export function createFullBucket(size: BucketSize, nowMs: number): Bucket {
  return { tokens: size.capacity, atMs: nowMs };
}

export function takeToken(
  bucket: Bucket,
  { capacity, refillMs }: BucketSize,
  nowMs: number,
): { readonly bucket: Bucket; readonly isTaken: boolean } {
  const refilledTokens = Math.max(0, nowMs - bucket.atMs) / refillMs;
  const tokens = Math.min(capacity, bucket.tokens + refilledTokens);
  const isTaken = tokens >= 1;
  return { bucket: { tokens: isTaken ? tokens - 1 : tokens, atMs: Math.max(nowMs, bucket.atMs) }, isTaken };
}
