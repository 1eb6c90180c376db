import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventSpec } from "../../src/api-server/event-object.ts";
import { createEventLimits, REPEAT_AFTER_MS } from "../../src/api-server/event-recorder.ts";
import { fullBucket, takeToken } from "../../src/api-server/token-buckets.ts";

function eventOf(namespace: string, uid: string, reason = "BadValue"): EventSpec {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid };
  return { namespace, owner, type: "Warning", reason, message: "m" };
}

test("a repeated Event is sent once in ten minutes, with the count since then", () => {
  const limit = createEventLimits();
  expect(limit(eventOf("shop", "u"), 0)).toEqual({ kind: "send", count: 1, firstMs: 0 });
  expect(limit(eventOf("shop", "u"), 5_000).kind).toBe("repeated");
  expect(limit(eventOf("shop", "u"), REPEAT_AFTER_MS - 1).kind).toBe("repeated");
  expect(limit(eventOf("shop", "u"), REPEAT_AFTER_MS)).toEqual({ kind: "send", count: 3, firstMs: 5_000 });
  expect(limit(eventOf("shop", "u"), REPEAT_AFTER_MS * 2)).toEqual({
    kind: "send",
    count: 1,
    firstMs: REPEAT_AFTER_MS * 2,
  });
});

test("an Event with another reason, owner or namespace does not count as a repetition", () => {
  const limit = createEventLimits();
  const events = [eventOf("shop", "u"), eventOf("shop", "u", "NotInjected"), eventOf("shop", "v"), eventOf("bar", "u")];
  for (const event of events) expect(limit(event, 0).kind).toBe("send");
});

test("each namespace has a burst of ten Events and then one per 30 s, independent of other namespaces", () => {
  const limit = createEventLimits();
  const kinds = Array.from({ length: 12 }, (_, at) => limit(eventOf("loud", `u${at}`), 0).kind);
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(10);
  expect(kinds.slice(10)).toEqual(["rate_limited", "rate_limited"]);
  expect(limit(eventOf("quiet", "u"), 0).kind).toBe("send");
  expect(limit(eventOf("loud", "u98"), 29_999).kind).toBe("rate_limited");
  expect(limit(eventOf("loud", "u99"), 30_000).kind).toBe("send");
});

test("all namespaces together have a burst of fifty Events and then one per second", () => {
  const limit = createEventLimits();
  const kinds = Array.from({ length: 60 }, (_, at) => limit(eventOf(`n${at}`, "u"), 0).kind);
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(50);
  expect(limit(eventOf("m", "u"), 999).kind).toBe("rate_limited");
  expect(limit(eventOf("m", "u"), 1_000)).toEqual({ kind: "send", count: 2, firstMs: 999 });
});

test("rate-limited Events are counted in the next sent Event", () => {
  const limit = createEventLimits();
  for (let at = 0; at < 10; at += 1) limit(eventOf("loud", `u${at}`), 0);
  for (let time = 1; time <= 5; time += 1) expect(limit(eventOf("loud", "late"), time).kind).toBe("rate_limited");
  expect(limit(eventOf("loud", "late"), 60_000)).toEqual({ kind: "send", count: 6, firstMs: 1 });
});

test("in an hour an owner and reason has at most six Events, and each namespace stays within its budget", () => {
  const calls = fc.array(fc.tuple(fc.nat(3), fc.nat(5), fc.nat(60_000)), { maxLength: 400 });
  fc.assert(
    fc.property(calls, (given) => {
      const limit = createEventLimits();
      const sent = new Map<string, number>();
      let nowMs = 0;
      for (const [namespace, uid, waitMs] of given) {
        if (nowMs + waitMs >= 3_600_000) break;
        nowMs += waitMs;
        const key = `${namespace} ${uid}`;
        if (limit(eventOf(String(namespace), String(uid)), nowMs).kind === "send")
          sent.set(key, (sent.get(key) ?? 0) + 1);
      }
      for (const times of sent.values()) expect(times).toBeLessThanOrEqual(6);
      const all = [...sent.values()].reduce((left, right) => left + right, 0);
      expect(all).toBeLessThanOrEqual(4 * (10 + nowMs / 30_000));
    }),
  );
});

test("a token bucket never exceeds its capacity, and a clock that goes back adds no token", () => {
  const size = { capacity: 2, refillMs: 1_000 };
  let bucket = fullBucket(size, 10_000);
  const take = (nowMs: number): boolean => {
    const result = takeToken(bucket, size, nowMs);
    bucket = result.bucket;
    return result.taken;
  };
  expect([take(1_000_000), take(1_000_000), take(1_000_000)]).toEqual([true, true, false]);
  expect([take(0), take(1_000_500), take(1_001_000)]).toEqual([false, false, true]);
});
