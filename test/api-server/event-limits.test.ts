import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventSpec } from "../../src/api-server/event-object.ts";
import { createEventLimits, REPEAT_AFTER_MS } from "../../src/api-server/event-recorder.ts";
import { createFullBucket, takeToken } from "../../src/api-server/token-buckets.ts";

function createEvent(namespace: string, uid: string, reason = "BadValue"): EventSpec {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid };
  return { namespace, owner, type: "Warning", reason, message: "m" };
}

test("a repeated Event is sent once in ten minutes, with the number of Events since the last sent Event", () => {
  const checkLimits = createEventLimits();
  expect(checkLimits(createEvent("shop", "u"), 0)).toEqual({ kind: "send", count: 1, firstMs: 0 });
  expect(checkLimits(createEvent("shop", "u"), 5_000).kind).toBe("repeated");
  expect(checkLimits(createEvent("shop", "u"), REPEAT_AFTER_MS - 1).kind).toBe("repeated");
  expect(checkLimits(createEvent("shop", "u"), REPEAT_AFTER_MS)).toEqual({ kind: "send", count: 3, firstMs: 5_000 });
  expect(checkLimits(createEvent("shop", "u"), REPEAT_AFTER_MS * 2)).toEqual({
    kind: "send",
    count: 1,
    firstMs: REPEAT_AFTER_MS * 2,
  });
});

test("an Event with another reason, owner or namespace does not count as a repetition", () => {
  const checkLimits = createEventLimits();
  const events = [
    createEvent("shop", "u"),
    createEvent("shop", "u", "NotInjected"),
    createEvent("shop", "v"),
    createEvent("bar", "u"),
  ];
  for (const event of events) expect(checkLimits(event, 0).kind).toBe("send");
});

test("each namespace has a burst of ten Events and then one per 30 s, independent of other namespaces", () => {
  const checkLimits = createEventLimits();
  const resultKinds = Array.from({ length: 12 }, (_, index) => checkLimits(createEvent("loud", `u${index}`), 0).kind);
  expect(resultKinds.filter((kind) => kind === "send")).toHaveLength(10);
  expect(resultKinds.slice(10)).toEqual(["rate_limited", "rate_limited"]);
  expect(checkLimits(createEvent("quiet", "u"), 0).kind).toBe("send");
  expect(checkLimits(createEvent("loud", "u98"), 29_999).kind).toBe("rate_limited");
  expect(checkLimits(createEvent("loud", "u99"), 30_000).kind).toBe("send");
});

test("all namespaces together have a burst of fifty Events and then one per second", () => {
  const checkLimits = createEventLimits();
  const kinds = Array.from({ length: 60 }, (_, index) => checkLimits(createEvent(`n${index}`, "u"), 0).kind);
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(50);
  expect(checkLimits(createEvent("m", "u"), 999).kind).toBe("rate_limited");
  expect(checkLimits(createEvent("m", "u"), 1_000)).toEqual({ kind: "send", count: 2, firstMs: 999 });
});

test("rate-limited Events are counted in the next sent Event", () => {
  const checkLimits = createEventLimits();
  for (let index = 0; index < 10; index += 1) checkLimits(createEvent("loud", `u${index}`), 0);
  for (let nowMs = 1; nowMs <= 5; nowMs += 1)
    expect(checkLimits(createEvent("loud", "late"), nowMs).kind).toBe("rate_limited");
  expect(checkLimits(createEvent("loud", "late"), 60_000)).toEqual({ kind: "send", count: 6, firstMs: 1 });
});

test("in an hour at most six Events are sent per owner and reason, and each namespace stays within its rate limit", () => {
  const calls = fc.array(fc.tuple(fc.nat(3), fc.nat(5), fc.nat(60_000)), { maxLength: 400 });
  fc.assert(
    fc.property(calls, (events) => {
      const checkLimits = createEventLimits();
      const sentCounts = new Map<string, number>();
      let nowMs = 0;
      for (const [namespace, uid, waitMs] of events) {
        if (nowMs + waitMs >= 3_600_000) break;
        nowMs += waitMs;
        const key = `${namespace} ${uid}`;
        if (checkLimits(createEvent(String(namespace), String(uid)), nowMs).kind === "send")
          sentCounts.set(key, (sentCounts.get(key) ?? 0) + 1);
      }
      for (const count of sentCounts.values()) expect(count).toBeLessThanOrEqual(6);
      const sentTotal = [...sentCounts.values()].reduce((left, right) => left + right, 0);
      expect(sentTotal).toBeLessThanOrEqual(4 * (10 + nowMs / 30_000));
    }),
  );
});

test("a token bucket never exceeds its capacity, and a clock that moves backwards does not add a token", () => {
  const bucketSize = { capacity: 2, refillMs: 1_000 };
  let bucket = createFullBucket(bucketSize, 10_000);
  const take = (nowMs: number): boolean => {
    const result = takeToken(bucket, bucketSize, nowMs);
    bucket = result.bucket;
    return result.isTaken;
  };
  expect([take(1_000_000), take(1_000_000), take(1_000_000)]).toEqual([true, true, false]);
  expect([take(0), take(1_000_500), take(1_001_000)]).toEqual([false, false, true]);
});
