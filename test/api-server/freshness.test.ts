import { expect, test } from "vitest";
import {
  afterFailure,
  afterResponse,
  type Freshness,
  isStale,
  NEVER_SYNCED,
  STALE_AFTER_MS,
} from "../../src/api-server/freshness.ts";
import { retryDelayMs } from "../../src/api-server/retry-delay.ts";

test("a cache is stale before its first list and after six minutes without a response", () => {
  expect(isStale(NEVER_SYNCED, 0)).toBe(true);
  const { freshness } = afterResponse(NEVER_SYNCED, 1_000);
  expect(STALE_AFTER_MS).toBe(360_000);
  expect(isStale(freshness, 1_000 + STALE_AFTER_MS)).toBe(false);
  expect(isStale(freshness, 1_001 + STALE_AFTER_MS)).toBe(true);
});

test("single failures do not make a cache stale, and only the first failure is reported", () => {
  let freshness: Freshness = afterResponse(NEVER_SYNCED, 1_000).freshness;
  const changes = [1, 2, 3].map(() => {
    const failure = afterFailure(freshness, "no response");
    freshness = failure.freshness;
    return failure.change;
  });
  expect(changes).toEqual(["lost", undefined, undefined]);
  expect(isStale(freshness, 2_000)).toBe(false);
  expect(afterResponse(freshness, 3_000).change).toBe("back");
  expect(afterResponse(afterResponse(freshness, 3_000).freshness, 4_000).change).toBeUndefined();
});

test("retry delays of a cache double from 250 ms up to half a minute", () => {
  expect([0, 1, 2, 3, 7, 8, 10_000].map((failures) => retryDelayMs(failures, 0))).toEqual([
    0, 250, 500, 1_000, 15_000, 15_000, 15_000,
  ]);
  expect(retryDelayMs(10_000, 0.999)).toBeLessThanOrEqual(30_000);
});
