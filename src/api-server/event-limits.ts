/** Which notes become Events, and when: each once in a while, none from a flooding sender. Time is an argument. */
import type { Note } from "./event-note.ts";
import { keyedBucketsBelow } from "./keyed-buckets.ts";
import type { BucketSize } from "./token-bucket.ts";

/** The same about the same owner is told again after this, with the number of times since. */
export const REPEAT_AFTER_MS = 10 * 60_000;

/** One namespace may not use up what all have. */
const PER_NAMESPACE: BucketSize = { most: 10, refillMs: 30_000 };
const OVERALL: BucketSize = { most: 50, refillMs: 1_000 };

/** Notes and namespaces remembered; beyond, the oldest is forgotten. */
const REMEMBERED_LIMIT = 2_000;

export type Telling =
  /** `count` times since `firstMs`. */
  | { readonly kind: "send"; readonly count: number; readonly firstMs: number }
  | { readonly kind: "repeated" }
  | { readonly kind: "rate_limited" };

type Standing = { readonly firstMs: number; readonly count: number; readonly sentMs: number | undefined };

/** Answers for each note in turn. `nowMs` is monotonic. */
export function eventLimits(): (note: Note, nowMs: number) => Telling {
  const standing = new Map<string, Standing>();
  const mayTell = keyedBucketsBelow(OVERALL, PER_NAMESPACE, REMEMBERED_LIMIT);

  return (note, nowMs) => {
    const key = `${note.namespace} ${note.owner.uid} ${note.reason}`;
    const before = standing.get(key);
    const isNews = before === undefined;
    const count = isNews ? 1 : before.count + 1;
    const firstMs = isNews || before.count === 0 ? nowMs : before.firstMs;
    if (before?.sentMs !== undefined && nowMs - before.sentMs < REPEAT_AFTER_MS) {
      remember(standing, key, { ...before, firstMs, count });
      return { kind: "repeated" };
    }
    if (!mayTell(note.namespace, nowMs)) {
      remember(standing, key, { firstMs, count, sentMs: undefined });
      return { kind: "rate_limited" };
    }
    remember(standing, key, { firstMs: nowMs, count: 0, sentMs: nowMs });
    return { kind: "send", count, firstMs };
  };
}

/** The one used last is the last to be forgotten. */
function remember(map: Map<string, Standing>, key: string, value: Standing): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_LIMIT && oldest !== undefined) map.delete(oldest);
}
