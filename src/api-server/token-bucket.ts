/** A bucket of tokens that fills with time. Pure. */

export type BucketSize = {
  /** Tokens of a full bucket: the longest burst. */
  readonly most: number;
  /** Milliseconds for one token. */
  readonly refillMs: number;
};

export type Bucket = { readonly tokens: number; readonly atMs: number };

export function fullBucket(size: BucketSize, nowMs: number): Bucket {
  return { tokens: size.most, atMs: nowMs };
}

export function takeToken(
  bucket: Bucket,
  { most, refillMs }: BucketSize,
  nowMs: number,
): { readonly bucket: Bucket; readonly taken: boolean } {
  const gained = Math.max(0, nowMs - bucket.atMs) / refillMs;
  const tokens = Math.min(most, bucket.tokens + gained);
  const taken = tokens >= 1;
  return { bucket: { tokens: taken ? tokens - 1 : tokens, atMs: Math.max(nowMs, bucket.atMs) }, taken };
}
