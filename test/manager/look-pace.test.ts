import fc from "fast-check";
import { expect, test } from "vitest";
import { NOT_LOOKED } from "../../src/manager/drain/drain-state.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET } from "./drain-script.ts";

const END = [hook(100, 1), ownHook(110, 2)];
/** The settings' own. */
const DRAIN_DELAY_MS = 5_000;
const { quietPeriodMs } = ONE_APP;
const QUIET_POD: PodAt = () => QUIET;

test("looks at thousands of sockets are taken seldom while somebody is at work", () => {
  const few = play({ events: END, pod: busyUntil(999_999), sockets: 200 });
  const many = play({ events: END, pod: busyUntil(999_999), sockets: 3_000 });
  expect(few.wakes).toBeGreaterThan(350);
  // One minute, a look every 1.5 s; and those before the drain delay ends.
  expect(many.wakes).toBeLessThan(70);
});

test("looks at thousands of sockets are taken more often while all is calm, since short traffic may leave no trace", () => {
  const passing: PodAt = (nowMs) => ({ ...QUIET, lastEvidenceMs: nowMs - 10 });
  const many = play({ events: END, pod: passing, sockets: 3_000 });
  // One minute, a look every 0.3 s.
  expect(many.wakes).toBeGreaterThan(200);
  expect(many.wakes).toBeLessThan(230);
});

test("looks at thousands of sockets are as rare before the drain delay ends, however long quiet has to last", () => {
  const settings = { ...ONE_APP, drainDelayMs: 60_000, quietPeriodMs: 60_000 };
  const many = play({ settings, events: END, pod: busyUntil(1_000), sockets: 3_000, untilMs: 60_000 });
  // A look every 1.5 s while somebody is at work, then every 0.3 s; not one every 0.15 s.
  expect(many.wakes).toBeGreaterThan(150);
  expect(many.wakes).toBeLessThan(220);
});

test("looks that fail among thousands of sockets are no more frequent than those that do not", () => {
  const pod: PodAt = (nowMs) => (nowMs < 10_000 ? busyUntil(999_999)(nowMs) : NOT_LOOKED);
  const failing = play({ events: END, pod, sockets: (nowMs) => (nowMs < 10_000 ? 3_000 : -1) });
  expect(failing.wakes).toBeLessThan(70);
});

test("looks never keep away for longer than the quiet period, however many sockets there are", () => {
  const played = play({ events: END, pod: busyUntil(999_999), sockets: 1_000_000 });
  expect(played.wakes).toBeGreaterThanOrEqual(60_000 / quietPeriodMs);
});

test("a drain ends in time however many sockets its looks read", () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.nat(100_000), (endMs, sockets) => {
      const played = play({ events: END, pod: busyUntil(endMs), sockets });
      const dueMs = Math.min(Math.max(110 + DRAIN_DELAY_MS, endMs + quietPeriodMs), 110 + DRAIN_DELAY_MS + 60_000);
      expect(played.answered.get(1)).toBeGreaterThanOrEqual(dueMs);
      expect(played.answered.get(1)).toBeLessThanOrEqual(dueMs + 1);
    }),
  );
});

test("a timer that fires a fraction of a millisecond early does not part the end of the delay from its look", () => {
  const endMs = 110 + DRAIN_DELAY_MS;
  const nothing = (nowMs: number) => ({ kind: "caller-left" as const, nowMs, holdId: 99 });
  const played = play({ events: [...END, nothing(endMs - 0.4), nothing(endMs + 0.1)], lateMs: 0.05 });
  expect(played.answered.get(1)).toBeCloseTo(endMs + 0.05, 5);
});

test("a phase is told as it began, whether the next one came in the same step or in a later one", () => {
  const toldDraining = (lateMs: number, pod: PodAt) =>
    play({ events: END, pod, lateMs }).actions.flatMap((action) =>
      action.kind === "entered" && action.phase === "draining"
        ? [{ outcome: action.at.outcome, holds: action.at.holds.length }]
        : [],
    );
  const atOnce = toldDraining(3, QUIET_POD);
  expect(atOnce).toEqual([{ outcome: "none", holds: 2 }]);
  expect(toldDraining(0, busyUntil(6_000))).toEqual(atOnce);
});
