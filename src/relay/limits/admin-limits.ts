/** How often the admin port answers one client address, and all together. Time is an argument. Pure. */
import { keyedBuckets } from "../../api-server/keyed-buckets.ts";
import { type Bucket, type BucketSize, fullBucket, takeToken } from "../../api-server/token-bucket.ts";

/** A person opens a few pages, and a command line sends one request to each replica. */
const PER_ADDRESS: BucketSize = { most: 20, refillMs: 200 };

/**
 * A list of a thousand long drains takes 12 ms, in which no draining Pod is answered: a quarter of the relay's thread at
 * most, and half a second in one burst. One address can take half of the burst and a quarter of the rate.
 */
const OVERALL: BucketSize = { most: 40, refillMs: 50 };

/** Addresses in memory. A bucket is full again after 4 s, in which {@link OVERALL} answers 120 requests. */
const ADDRESSES_LIMIT = 1_000;

/** Whether a request of the address is answered now. `nowMs` is monotonic. */
export function adminLimits(): (address: string, nowMs: number) => boolean {
  const addresses = keyedBuckets(PER_ADDRESS, ADDRESSES_LIMIT);
  let overall: Bucket | undefined;
  return (address, nowMs) => {
    // An address without tokens takes none of the others'.
    if (!addresses.take(address, nowMs)) return false;
    const { bucket, taken } = takeToken(overall ?? fullBucket(OVERALL, nowMs), OVERALL, nowMs);
    overall = bucket;
    return taken;
  };
}
