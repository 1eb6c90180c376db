import fc from "fast-check";
import { expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { outcomeOf } from "../../src/manager/drain/drain-report-of.ts";
import { NO_SAMPLE } from "../../src/manager/drain/drain-state.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET } from "./drain-script.ts";

const END = [hook(100, 1), ownHook(110, 2)];
/** The settings' own. */
const DRAIN_DELAY_MS = 5_000;
const { quietPeriodMs } = ONE_APP;
const QUIET_POD: PodAt = () => QUIET;

test("looks at thousands of sockets are taken seldom while someone is at work", () => {
  const few = play({ events: END, pod: busyUntil(999_999), sockets: 200 });
  const many = play({ events: END, pod: busyUntil(999_999), sockets: 3_000 });
  expect(few.wakes).toBeGreaterThan(350);
  // One minute, a look every 1.5 s; and those before the drain delay ends.
  expect(many.wakes).toBeLessThan(70);
});

test("looks at thousands of sockets are taken more often while all is quiet, since short traffic may leave no trace", () => {
  const passing: PodAt = (nowMs) => ({ ...QUIET, lastEvidenceMs: nowMs - 10 });
  const many = play({ events: END, pod: passing, sockets: 3_000 });
  // One minute, a look every 0.3 s.
  expect(many.wakes).toBeGreaterThan(200);
  expect(many.wakes).toBeLessThan(230);
});

test("looks at thousands of sockets are as rare before the drain delay ends, however long quiet has to last", () => {
  const settings = { ...ONE_APP, drainDelayMs: 60_000, quietPeriodMs: 60_000 };
  const many = play({ settings, events: END, pod: busyUntil(1_000), sockets: 3_000, untilMs: 60_000 });
  // A look every 1.5 s while someone is at work, then every 0.3 s; not one every 0.15 s.
  expect(many.wakes).toBeGreaterThan(150);
  expect(many.wakes).toBeLessThan(220);
});

test("looks that fail among thousands of sockets are no more frequent than those that do not", () => {
  const pod: PodAt = (nowMs) => (nowMs < 10_000 ? busyUntil(999_999)(nowMs) : NO_SAMPLE.observation);
  const failing = play({ events: END, pod, sockets: (nowMs) => (nowMs < 10_000 ? 3_000 : -1) });
  expect(failing.wakes).toBeLessThan(70);
});

test("looks keep away for no longer than the quiet period, as long as that costs no more than 5 % of a core", () => {
  const played = play({ events: END, pod: busyUntil(999_999), sockets: MOST_EXACT });
  expect(played.wakes).toBeGreaterThanOrEqual(60_000 / quietPeriodMs);
});

/** A look at one socket, 5 % of a core, and the looks of a drain that is over after one pace. */
const LOOK_US = 6.25;
const SHARE = 0.05;
const LEAST_LOOKS = 2;
const paceMs = (sockets: number) => (LEAST_LOOKS * sockets * LOOK_US) / 1_000 / SHARE;
/** Of so many there is a look within each quiet period. */
const MOST_EXACT = 8_000;

const PODS = {
  "is busy without end": busyUntil(999_999),
  "is quiet, with traffic that passes": (nowMs: number) => ({ ...QUIET, lastEvidenceMs: nowMs - 10 }),
  "cannot be seen any more": (nowMs: number) => (nowMs < 10_000 ? QUIET : NO_SAMPLE.observation),
} satisfies Record<string, PodAt>;

test.for(Object.entries(PODS))("looks take at most 5 % of a core where a Pod %s", ([, pod]) => {
  fc.assert(
    fc.property(fc.integer({ min: MOST_EXACT + 1, max: 200_000 }), (sockets) => {
      let looks = 0;
      const counted: PodAt = (nowMs) => {
        looks += 1;
        return pod(nowMs);
      };
      play({ events: END, pod: counted, sockets });
      // At the trigger and at the deadline there is a look whatever it costs.
      expect(looks - 2).toBeLessThanOrEqual((DRAIN_DELAY_MS + 60_000) / paceMs(sockets));
    }),
  );
});

test.for(["requests", "auto"] as const)(
  "counts of a driver do not make looks dearer where %s ends the drain",
  (drainedWhen) => {
    const settings: DrainSettings = { ...ONE_APP, driver: "envoy", drainedWhen };
    let looks = 0;
    const pod: PodAt = () => {
      looks += 1;
      return { ...QUIET, openConnections: 9 };
    };
    const counted = { settings, events: END, pod, active: () => 5 };
    play({ ...counted, sockets: 100 });
    const withFew = looks;
    looks = 0;
    const { wakes } = play({ ...counted, sockets: 100_000 });
    // Counts go on five times a second, each with a look where that is cheap.
    expect(withFew).toBeGreaterThan(200);
    expect(wakes).toBeGreaterThan(200);
    expect(looks - 2).toBeLessThanOrEqual((DRAIN_DELAY_MS + 60_000) / paceMs(100_000));
  },
);

const dueAt = (endMs: number) =>
  Math.min(Math.max(110 + DRAIN_DELAY_MS, endMs + quietPeriodMs), 110 + DRAIN_DELAY_MS + 60_000);

test("a drain ends in time however many sockets its looks read, up to 4 000 for each second of quiet", () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.nat(MOST_EXACT), (endMs, sockets) => {
      const played = play({ events: END, pod: busyUntil(endMs), sockets });
      expect(played.answered.get(1)).toBeGreaterThanOrEqual(dueAt(endMs));
      expect(played.answered.get(1)).toBeLessThanOrEqual(dueAt(endMs) + 1);
    }),
  );
});

test("a drain with more sockets ends at the next look that 5 % of a core allows, and never before it may", () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.integer({ min: MOST_EXACT, max: 200_000 }), (endMs, sockets) => {
      const played = play({ events: END, pod: busyUntil(endMs), sockets });
      expect(played.answered.get(1)).toBeGreaterThanOrEqual(dueAt(endMs));
      expect(played.answered.get(1)).toBeLessThanOrEqual(dueAt(endMs) + paceMs(sockets) + 1);
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
      action.kind === "entered" && action.at.phase.name === "draining"
        ? [{ outcome: outcomeOf(action.at.phase), holds: action.at.hooks.holds.length }]
        : [],
    );
  const atOnce = toldDraining(3, QUIET_POD);
  expect(atOnce).toEqual([{ outcome: "none", holds: 2 }]);
  expect(toldDraining(0, busyUntil(6_000))).toEqual(atOnce);
});
