import fc from "fast-check";
import { expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { outcomeOf } from "../../src/manager/drain/drain-report-of.ts";
import { NO_SAMPLE } from "../../src/manager/drain/drain-state.ts";
import { busyUntil, hook, ONE_APP, ownHook, type PodAt, play, QUIET } from "./drain-script.ts";

const TERMINATION = [hook(100, 1), ownHook(110, 2)];
const DRAIN_DELAY_MS = 5_000;
const { quietPeriodMs } = ONE_APP;
const QUIET_POD: PodAt = () => QUIET;

test("samples are rare in a busy Pod with thousands of sockets", () => {
  const drainWithFewSockets = play({ events: TERMINATION, pod: busyUntil(999_999), sockets: 200 });
  const drainWithManySockets = play({ events: TERMINATION, pod: busyUntil(999_999), sockets: 3_000 });
  expect(drainWithFewSockets.wakeCount).toBeGreaterThan(350);
  // One minute with a sample every 1.5 s, and the samples of the drain delay.
  expect(drainWithManySockets.wakeCount).toBeLessThan(70);
});

test("samples are more frequent in a quiet Pod with thousands of sockets, to detect short traffic", () => {
  const podWithShortTraffic: PodAt = (nowMs) => ({ ...QUIET, lastEvidenceMs: nowMs - 10 });
  const withManySockets = play({ events: TERMINATION, pod: podWithShortTraffic, sockets: 3_000 });
  // One minute with a sample every 0.3 s.
  expect(withManySockets.wakeCount).toBeGreaterThan(200);
  expect(withManySockets.wakeCount).toBeLessThan(230);
});

test("samples are rare during the drain delay in a Pod with thousands of sockets, even with a long quiet period", () => {
  const settings = { ...ONE_APP, drainDelayMs: 60_000, quietPeriodMs: 60_000 };
  const drain = play({ settings, events: TERMINATION, pod: busyUntil(1_000), sockets: 3_000, untilMs: 60_000 });
  // A sample every 1.5 s while the Pod is busy, then every 0.3 s; not every 0.15 s.
  expect(drain.wakeCount).toBeGreaterThan(150);
  expect(drain.wakeCount).toBeLessThan(220);
});

test("failed samples are at most as frequent as successful samples in a Pod with thousands of sockets", () => {
  const pod: PodAt = (nowMs) => (nowMs < 10_000 ? busyUntil(999_999)(nowMs) : NO_SAMPLE.observation);
  const drain = play({ events: TERMINATION, pod, sockets: (nowMs) => (nowMs < 10_000 ? 3_000 : -1) });
  expect(drain.wakeCount).toBeLessThan(70);
});

test("samples are at most a quiet period apart if samples at this pace need at most 5 % of a core", () => {
  const drain = play({ events: TERMINATION, pod: busyUntil(999_999), sockets: MAX_EXACT_SOCKETS });
  expect(drain.wakeCount).toBeGreaterThanOrEqual(60_000 / quietPeriodMs);
});

/** CPU time of a sample for each socket, the maximum share of a core, and the minimum number of samples in a drain. */
const SAMPLE_US_PER_SOCKET = 6.25;
const CORE_SHARE = 0.05;
const MIN_SAMPLES = 2;
const paceMs = (sockets: number) => (MIN_SAMPLES * sockets * SAMPLE_US_PER_SOCKET) / 1_000 / CORE_SHARE;
/** Largest number of sockets at which every quiet period still contains a sample. */
const MAX_EXACT_SOCKETS = 8_000;

const PODS = {
  "is always busy": busyUntil(999_999),
  "is quiet with short traffic": (nowMs: number) => ({ ...QUIET, lastEvidenceMs: nowMs - 10 }),
  "has failing samples": (nowMs: number) => (nowMs < 10_000 ? QUIET : NO_SAMPLE.observation),
} satisfies Record<string, PodAt>;

test.for(Object.entries(PODS))("samples use at most 5 % of a core if a Pod %s", ([, pod]) => {
  fc.assert(
    fc.property(fc.integer({ min: MAX_EXACT_SOCKETS + 1, max: 200_000 }), (sockets) => {
      let sampleCount = 0;
      const countingPod: PodAt = (nowMs) => {
        sampleCount += 1;
        return pod(nowMs);
      };
      play({ events: TERMINATION, pod: countingPod, sockets });
      // The samples at the trigger and at the deadline do not count towards the limit.
      expect(sampleCount - 2).toBeLessThanOrEqual((DRAIN_DELAY_MS + 60_000) / paceMs(sockets));
    }),
  );
});

test.for(["requests", "auto"] as const)(
  "a driver's counts of requests do not make samples more frequent in a Pod with many sockets if `drained-when` is `%s`",
  (drainedWhen) => {
    const settings: DrainSettings = { ...ONE_APP, driver: "envoy", drainedWhen };
    let sampleCount = 0;
    const pod: PodAt = () => {
      sampleCount += 1;
      return { ...QUIET, openConnections: 9 };
    };
    const script = { settings, events: TERMINATION, pod, active: () => 5 };
    play({ ...script, sockets: 100 });
    const samplesWithFewSockets = sampleCount;
    sampleCount = 0;
    const { wakeCount } = play({ ...script, sockets: 100_000 });
    // The driver counts five times a second. If samples are cheap, each count is accompanied by a sample.
    expect(samplesWithFewSockets).toBeGreaterThan(200);
    expect(wakeCount).toBeGreaterThan(200);
    expect(sampleCount - 2).toBeLessThanOrEqual((DRAIN_DELAY_MS + 60_000) / paceMs(100_000));
  },
);

const dueMsOf = (endMs: number) =>
  Math.min(Math.max(110 + DRAIN_DELAY_MS, endMs + quietPeriodMs), 110 + DRAIN_DELAY_MS + 60_000);

test("a drain ends on time in a Pod with up to 4000 sockets for each second of the quiet period", () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.nat(MAX_EXACT_SOCKETS), (endMs, sockets) => {
      const drain = play({ events: TERMINATION, pod: busyUntil(endMs), sockets });
      expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(dueMsOf(endMs));
      expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(dueMsOf(endMs) + 1);
    }),
  );
});

test("a drain in a Pod with more than 4000 sockets for each second of the quiet period ends at the next sample that 5 % of a core allow", () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.integer({ min: MAX_EXACT_SOCKETS, max: 200_000 }), (endMs, sockets) => {
      const drain = play({ events: TERMINATION, pod: busyUntil(endMs), sockets });
      expect(drain.answerTimesMs.get(1)).toBeGreaterThanOrEqual(dueMsOf(endMs));
      expect(drain.answerTimesMs.get(1)).toBeLessThanOrEqual(dueMsOf(endMs) + paceMs(sockets) + 1);
    }),
  );
});

test("a timer that fires a fraction of a millisecond early does not delay the sample at the end of the drain delay", () => {
  const endMs = 110 + DRAIN_DELAY_MS;
  const unrelatedEvent = (nowMs: number) => ({ kind: "client-disconnected" as const, nowMs, holdId: 99 });
  const drain = play({
    events: [...TERMINATION, unrelatedEvent(endMs - 0.4), unrelatedEvent(endMs + 0.1)],
    lateMs: 0.05,
  });
  expect(drain.answerTimesMs.get(1)).toBeCloseTo(endMs + 0.05, 5);
});

test("a phase is reported with its initial state even if one event starts both this phase and the next", () => {
  const drainingEntriesOf = (lateMs: number, pod: PodAt) =>
    play({ events: TERMINATION, pod, lateMs }).actions.flatMap((action) =>
      action.kind === "entered" && action.enteredState.phase.name === "draining"
        ? [{ outcome: outcomeOf(action.enteredState.phase), holds: action.enteredState.hooks.holds.length }]
        : [],
    );
  const immediateEntries = drainingEntriesOf(3, QUIET_POD);
  expect(immediateEntries).toEqual([{ outcome: "none", holds: 2 }]);
  expect(drainingEntriesOf(0, busyUntil(6_000))).toEqual(immediateEntries);
});
