/** How many reports a namespace may send. Time is an argument. */
import { type Bucket, type BucketSize, fullBucket, takeToken } from "../../api-server/token-bucket.ts";

/** As many Pods as may drain at once, then fifty a second. */
const PER_NAMESPACE: BucketSize = { most: 5_000, refillMs: 20 };

/** Namespaces remembered; beyond, the one that reported longest ago is forgotten. */
const REMEMBERED_LIMIT = 2_000;

/** `nowMs` is monotonic. A report that turns out to be unreadable has cost its namespace one as well. */
export type MayReport = (namespace: string, nowMs: number) => boolean;

export function reportLimits(): MayReport {
  const namespaces = new Map<string, Bucket>();
  return (namespace, nowMs) => {
    const { bucket, taken } = takeToken(
      namespaces.get(namespace) ?? fullBucket(PER_NAMESPACE, nowMs),
      PER_NAMESPACE,
      nowMs,
    );
    namespaces.delete(namespace);
    namespaces.set(namespace, bucket);
    const [oldest] = namespaces.keys();
    if (namespaces.size > REMEMBERED_LIMIT && oldest !== undefined) namespaces.delete(oldest);
    return taken;
  };
}
