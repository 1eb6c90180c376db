import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventSpec } from "../../src/api-server/event-object.ts";
import { createEventLimits, REPEAT_AFTER_MS } from "../../src/api-server/event-recorder.ts";
import { fullBucket, takeToken } from "../../src/api-server/token-buckets.ts";

function note(namespace: string, uid: string, reason = "BadValue"): EventSpec {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid };
  return { namespace, owner, type: "Warning", reason, message: "m" };
}

test("the same about one owner is told once in ten minutes, then with the number of times since", () => {
  const tell = createEventLimits();
  expect(tell(note("shop", "u"), 0)).toEqual({ kind: "send", count: 1, firstMs: 0 });
  expect(tell(note("shop", "u"), 5_000).kind).toBe("repeated");
  expect(tell(note("shop", "u"), REPEAT_AFTER_MS - 1).kind).toBe("repeated");
  expect(tell(note("shop", "u"), REPEAT_AFTER_MS)).toEqual({ kind: "send", count: 3, firstMs: 5_000 });
  expect(tell(note("shop", "u"), REPEAT_AFTER_MS * 2)).toEqual({
    kind: "send",
    count: 1,
    firstMs: REPEAT_AFTER_MS * 2,
  });
});

test("another reason, owner or namespace is news", () => {
  const tell = createEventLimits();
  const notes = [note("shop", "u"), note("shop", "u", "NotInjected"), note("shop", "v"), note("bar", "u")];
  for (const one of notes) expect(tell(one, 0).kind).toBe("send");
});

test("a namespace has ten at once and then one in half a minute, and leaves the others theirs", () => {
  const tell = createEventLimits();
  const kinds = Array.from({ length: 12 }, (_, at) => tell(note("loud", `u${at}`), 0).kind);
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(10);
  expect(kinds.slice(10)).toEqual(["rate_limited", "rate_limited"]);
  expect(tell(note("calm", "u"), 0).kind).toBe("send");
  expect(tell(note("loud", "u98"), 29_999).kind).toBe("rate_limited");
  expect(tell(note("loud", "u99"), 30_000).kind).toBe("send");
});

test("all namespaces together have fifty at once and then one a second", () => {
  const tell = createEventLimits();
  const kinds = Array.from({ length: 60 }, (_, at) => tell(note(`n${at}`, "u"), 0).kind);
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(50);
  expect(tell(note("m", "u"), 999).kind).toBe("rate_limited");
  expect(tell(note("m", "u"), 1_000)).toEqual({ kind: "send", count: 2, firstMs: 999 });
});

test("what was limited is counted when it is told at last", () => {
  const tell = createEventLimits();
  for (let at = 0; at < 10; at += 1) tell(note("loud", `u${at}`), 0);
  for (let time = 1; time <= 5; time += 1) expect(tell(note("loud", "late"), time).kind).toBe("rate_limited");
  expect(tell(note("loud", "late"), 60_000)).toEqual({ kind: "send", count: 6, firstMs: 1 });
});

test("in any hour no owner and reason is told more than six times, and all not more than the budget", () => {
  const calls = fc.array(fc.tuple(fc.nat(3), fc.nat(5), fc.nat(60_000)), { maxLength: 400 });
  fc.assert(
    fc.property(calls, (given) => {
      const tell = createEventLimits();
      const sent = new Map<string, number>();
      let nowMs = 0;
      for (const [namespace, uid, waitMs] of given) {
        if (nowMs + waitMs >= 3_600_000) break;
        nowMs += waitMs;
        const key = `${namespace} ${uid}`;
        if (tell(note(String(namespace), String(uid)), nowMs).kind === "send") sent.set(key, (sent.get(key) ?? 0) + 1);
      }
      for (const times of sent.values()) expect(times).toBeLessThanOrEqual(6);
      const all = [...sent.values()].reduce((left, right) => left + right, 0);
      expect(all).toBeLessThanOrEqual(4 * (10 + nowMs / 30_000));
    }),
  );
});

test("a bucket never holds more than it can, and a clock that goes back gives nothing", () => {
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
