import fc from "fast-check";
import { expect, test } from "vitest";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET } from "./drain-script.ts";

const END = [hook(100, 1), ownHook(110, 2)];
/** The settings' own. */
const DRAIN_DELAY_MS = 5_000;
const { quietPeriodMs } = ONE_APP;

test("looks that take long are taken seldom while somebody is at work", () => {
  const cheap = play({ events: END, pod: busyUntil(999_999), lookTookMs: 1 });
  const dear = play({ events: END, pod: busyUntil(999_999), lookTookMs: 15 });
  expect(cheap.wakes).toBeGreaterThan(350);
  // One minute, a look every 1.5 s; and those before the drain delay ends.
  expect(dear.wakes).toBeLessThan(70);
});

test("looks that take long are taken more often while all is calm, since short traffic may leave no trace", () => {
  const passing: PodAt = (nowMs) => ({ ...QUIET, lastEvidenceMs: nowMs - 10 });
  const dear = play({ events: END, pod: passing, lookTookMs: 15 });
  // One minute, a look every 0.3 s.
  expect(dear.wakes).toBeGreaterThan(200);
  expect(dear.wakes).toBeLessThan(230);
});

test("looks never keep away for longer than the quiet period, however long they take", () => {
  const played = play({ events: END, pod: busyUntil(999_999), lookTookMs: 5_000 });
  expect(played.wakes).toBeGreaterThanOrEqual(60_000 / quietPeriodMs);
});

test("a drain ends in time whatever its looks take", () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.nat(3_000), (endMs, lookTookMs) => {
      const played = play({ events: END, pod: busyUntil(endMs), lookTookMs });
      const dueMs = Math.min(Math.max(110 + DRAIN_DELAY_MS, endMs + quietPeriodMs), 110 + DRAIN_DELAY_MS + 60_000);
      expect(played.answered.get(1)).toBeGreaterThanOrEqual(dueMs);
      expect(played.answered.get(1)).toBeLessThanOrEqual(dueMs + 1);
    }),
  );
});
