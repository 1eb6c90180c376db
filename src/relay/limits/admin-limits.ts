/** How often the admin port answers one client address, and all together. Time is an argument. Pure. */
import { type KeyedBuckets, keyedBucketsBelow } from "../../api-server/keyed-buckets.ts";
import type { BucketSize } from "../../api-server/token-bucket.ts";

/** A person opens a few pages, and a command line sends one request to each replica. */
const PER_ADDRESS: BucketSize = { most: 20, refillMs: 200 };

/**
 * A list of a thousand long drains takes 12 ms, in which no draining Pod is answered: a quarter of the relay's thread at
 * most, and half a second in one burst. One address can take half of the burst and a quarter of the rate.
 */
const OVERALL: BucketSize = { most: 40, refillMs: 50 };

/** Addresses in memory. A bucket is full again after 4 s, in which {@link OVERALL} answers 120 requests. */
const ADDRESSES_LIMIT = 1_000;

/** @returns a function that takes a token of a client address. Its result is true when the request is to be answered */
export function adminLimits(): KeyedBuckets["take"] {
  return keyedBucketsBelow(OVERALL, PER_ADDRESS, ADDRESSES_LIMIT);
}
