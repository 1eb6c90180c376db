/** Tests drains with an interrupted relay and with replicas that disagree. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import type { EndpointState } from "../../src/manager/drain/drain-state.ts";
import { hook, ONE_APP, ownHook, play, relayReported } from "./drain-script.ts";

const TERMINATION = [ownHook(100, 2), hook(110, 1)];
const SETTINGS: DrainSettings = { ...ONE_APP, deregistrationDelayMs: 30_000, drainTimeoutMs: 600_000 };
const status = (nowMs: number, endpointState: EndpointState, terminating = endpointState !== "unknown"): DrainEvent =>
  relayReported(nowMs, endpointState, terminating, { reason: "the reason" });
const hookAnswerMs = (statuses: readonly DrainEvent[], settings = SETTINGS): number =>
  play({ settings, events: [...TERMINATION, ...statuses], untilMs: 900_000 }).answerTimesMs.get(1) ?? -1;

describe("a drain whose connection to the relay is interrupted", () => {
  test("does not wait for the withdrawal again if the Pod was withdrawn before the interruption", () => {
    const uninterruptedMs = hookAnswerMs([status(200, "out")]);
    expect(uninterruptedMs).toBe(35_100);
    expect(hookAnswerMs([status(200, "out"), status(10_000, "unknown"), status(12_000, "out")])).toBe(uninterruptedMs);
  });

  test("lasts as long as without a relay if the first status comes late", () => {
    const withoutStatusMs = hookAnswerMs([]);
    expect(withoutStatusMs).toBe(35_100);
    expect(hookAnswerMs([status(20_000, "out")])).toBe(withoutStatusMs);
  });

  test("starts the deregistration delay at the interruption at the latest", () => {
    expect(hookAnswerMs([status(200, "in"), status(9_000, "unknown"), status(12_000, "out")])).toBe(39_000);
  });

  test("waits the whole deregistration delay if the interruption follows the withdrawal", () => {
    const uninterruptedMs = hookAnswerMs([status(200, "in"), status(20_000, "out")]);
    expect(uninterruptedMs).toBe(50_000);
    expect(hookAnswerMs([status(200, "in"), status(20_000, "out"), status(25_000, "unknown")])).toBe(uninterruptedMs);
    expect(
      hookAnswerMs([status(200, "in"), status(20_000, "out"), status(25_000, "unknown"), status(26_000, "out")]),
    ).toBe(uninterruptedMs);
  });

  test("waits for another withdrawal if an EndpointSlice had the Pod as a ready endpoint again", () => {
    expect(hookAnswerMs([status(200, "out"), status(6_000, "in"), status(8_000, "out")])).toBe(38_000);
  });

  test("reports the withdrawal and the interruption", () => {
    const drain = play({
      settings: SETTINGS,
      events: [...TERMINATION, status(2_100, "out"), status(10_000, "unknown")],
    });
    const report = drainReportOf(drain.state, 90_000, -1, 0);
    expect(report).toMatchObject({ relay: "unknown: the reason", withdrawnAfterMs: 2_000 });
    expect(report.why).toContain("The Pod was withdrawn after 2s; later updates were lost (the reason).");
  });
});

describe("a relay replica that does not report the Pod as terminating yet", () => {
  test("does not end the drain's wait for the withdrawal, which another replica started", () => {
    const statuses = [status(200, "in"), status(9_000, "in", false), status(50_000, "out", false)];
    expect(hookAnswerMs(statuses)).toBe(80_000);
  });

  test("does not end the drain's wait for the withdrawal after an interruption, and the report does not contain not_terminating", () => {
    const statuses = [status(200, "in"), status(3_000, "unknown"), status(3_500, "in", false)];
    const drain = play({ settings: { ...ONE_APP, drainTimeoutMs: 20_000 }, events: [...TERMINATION, ...statuses] });
    expect(drain.summary.outcome).toBe("timeout");
    expect(drainReportOf(drain.state, 90_000, -1, 0).relay).toBe("offered");
    expect(drain.summary.why).toContain("EndpointSlices still listed the Pod as ready: the reason");
  });

  test("does not affect the next drain if it responded during a container restart", () => {
    const events = [
      hook(0, 1),
      status(100, "in", false),
      ...TERMINATION.map((one) => ({ ...one, nowMs: one.nowMs + 20_000 })),
    ];
    const nextDrainEvents = [...events, status(20_300, "in", false)];
    expect(drainReportOf(play({ settings: ONE_APP, events: nextDrainEvents }).state, 90_000, -1, 0).relay).toBe(
      "not_terminating",
    );
  });
});

describe("for arbitrary sequences of correct relay statuses", () => {
  const anyOutages = fc.array(
    fc.record({ atMs: fc.integer({ min: 150, max: 60_000 }), durationMs: fc.integer({ min: 1, max: 20_000 }) }),
    {
      maxLength: 4,
    },
  );
  const anyOutMs = fc.integer({ min: 200, max: 60_000 });

  const statusesOf = (outMs: number, outages: readonly { atMs: number; durationMs: number }[]): DrainEvent[] => {
    const isOutage = (ms: number) => outages.some((one) => ms >= one.atMs && ms < one.atMs + one.durationMs);
    const changeTimes = [150, outMs, ...outages.flatMap((one) => [one.atMs, one.atMs + one.durationMs])];
    return [...new Set(changeTimes)]
      .sort((a, b) => a - b)
      .map((ms) => status(ms, isOutage(ms) ? "unknown" : ms < outMs ? "in" : "out"));
  };

  test("interruptions do not extend a drain", () => {
    fc.assert(
      fc.property(anyOutMs, anyOutages, (outMs, outages) => {
        expect(hookAnswerMs(statusesOf(outMs, outages))).toBeLessThanOrEqual(hookAnswerMs(statusesOf(outMs, [])));
      }),
    );
  });

  test("a drain does not end before the withdrawal, whichever replica responds", () => {
    const anyTimes = fc.array(fc.integer({ min: 151, max: 60_000 }), { maxLength: 4 });
    fc.assert(
      fc.property(anyOutMs, anyTimes, (outMs, times) => {
        const contradictions = times.filter((ms) => ms < outMs).map((ms) => status(ms, "in", false));
        const statuses = [...statusesOf(outMs, []), ...contradictions].sort((a, b) => a.nowMs - b.nowMs);
        expect(hookAnswerMs(statuses, { ...SETTINGS, deregistrationDelayMs: 0 })).toBeGreaterThanOrEqual(outMs);
      }),
    );
  });
});
