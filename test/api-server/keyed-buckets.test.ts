import { expect, test } from "vitest";
import { createKeyedBuckets } from "../../src/api-server/token-buckets.ts";

const SIZE = { capacity: 2, refillMs: 100 };

test("an empty token bucket does not affect the buckets of other keys", () => {
  const buckets = createKeyedBuckets(SIZE, 10);
  expect([1, 2, 3].map(() => buckets.take("greedy", 0))).toEqual([true, true, false]);
  expect([1, 2, 3].map(() => buckets.take("modest", 0))).toEqual([true, true, false]);
  expect([1, 2].map(() => buckets.take("greedy", 100))).toEqual([true, false]);
});

test("a token bucket is removed once it is full again", () => {
  const buckets = createKeyedBuckets(SIZE, 10);
  for (const key of ["a", "b", "c"]) buckets.take(key, 0);
  buckets.take("a", 50);
  expect(buckets.count()).toBe(3);
  buckets.take("d", 199);
  expect(buckets.count()).toBe(4);
  buckets.take("d", 200);
  expect(buckets.count()).toBe(2);
});

test("beyond the limit of keys, only the least recently used token bucket is reset", () => {
  const buckets = createKeyedBuckets(SIZE, 2);
  for (const key of ["a", "a", "b", "b", "a", "c"]) buckets.take(key, 0);
  expect(buckets.count()).toBe(2);
  expect(buckets.take("a", 0)).toBe(false);
  expect(buckets.take("b", 0)).toBe(true);
});

test("the token buckets of a hundred thousand keys use limited memory", () => {
  const buckets = createKeyedBuckets(SIZE, 1_000);
  let maximumCount = 0;
  for (let index = 0; index < 100_000; index += 1) {
    buckets.take(`${index}`, index / 1_000);
    maximumCount = Math.max(maximumCount, buckets.count());
  }
  expect(maximumCount).toBe(1_000);
});
