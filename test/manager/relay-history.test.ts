/** What a drain makes of a relay whose word comes and goes, and whose replicas do not all know the same. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainEvent } from "../../src/manager/drain/drain-event.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import type { Offered } from "../../src/manager/drain/drain-state.ts";
import { hook, ONE_APP, ownHook, play, relaySaid } from "./drain-script.ts";

const END = [ownHook(100, 2), hook(110, 1)];
const SETTINGS: DrainSettings = { ...ONE_APP, deregistrationDelayMs: 30_000, drainTimeoutMs: 600_000 };
const said = (nowMs: number, offered: Offered, terminating = offered !== "unknown"): DrainEvent =>
  relaySaid(nowMs, offered, terminating, { reason: "words" });
const endOf = (words: readonly DrainEvent[], settings = SETTINGS): number =>
  play({ settings, events: [...END, ...words], untilMs: 900_000 }).answered.get(1) ?? -1;

describe("a relay that is lost and comes back", () => {
  test("does not make a Pod wait again that was out of rotation before", () => {
    const steady = endOf([said(200, "out")]);
    expect(steady).toBe(35_100);
    expect(endOf([said(200, "out"), said(10_000, "unknown"), said(12_000, "out")])).toBe(steady);
  });

  test("and is first heard late costs no more than none", () => {
    const none = endOf([]);
    expect(none).toBe(35_100);
    expect(endOf([said(20_000, "out")])).toBe(none);
  });

  test("counts the withdrawal from its silence at the latest", () => {
    expect(endOf([said(200, "in"), said(9_000, "unknown"), said(12_000, "out")])).toBe(39_000);
  });

  test("or does not, takes no time from load balancers once it knew the withdrawal", () => {
    const steady = endOf([said(200, "in"), said(20_000, "out")]);
    expect(steady).toBe(50_000);
    expect(endOf([said(200, "in"), said(20_000, "out"), said(25_000, "unknown")])).toBe(steady);
    expect(endOf([said(200, "in"), said(20_000, "out"), said(25_000, "unknown"), said(26_000, "out")])).toBe(steady);
  });

  test("is asked for the withdrawal again where the Pod was offered again", () => {
    expect(endOf([said(200, "out"), said(6_000, "in"), said(8_000, "out")])).toBe(38_000);
  });

  test("leaves in the report what it knew, and that it was lost", () => {
    const played = play({ settings: SETTINGS, events: [...END, said(2_100, "out"), said(10_000, "unknown")] });
    const report = drainReportOf(played.full, 90_000, -1, 0);
    expect(report).toMatchObject({ relay: "unknown: words", withdrawnAfterMs: 2_000 });
    expect(report.why).toContain("The Pod was out of rotation after 2s; later updates were lost (words).");
  });
});

describe("a replica that has not seen the Pod's end yet", () => {
  test("does not deny what another one confirmed", () => {
    const words = [said(200, "in"), said(9_000, "in", false), said(50_000, "out", false)];
    expect(endOf(words)).toBe(80_000);
  });

  test("does not deny it after a silence either, and the kubelet is not blamed", () => {
    const words = [said(200, "in"), said(3_000, "unknown"), said(3_500, "in", false)];
    const played = play({ settings: { ...ONE_APP, drainTimeoutMs: 20_000 }, events: [...END, ...words] });
    expect(played.state.outcome).toBe("timeout");
    expect(drainReportOf(played.full, 90_000, -1, 0).relay).toBe("offered");
    expect(played.state.why).toContain("still in rotation: words");
  });

  test("says nothing of the next story: a restart's word is forgotten", () => {
    const events = [hook(0, 1), said(100, "in", false), ...END.map((one) => ({ ...one, nowMs: one.nowMs + 20_000 }))];
    const next = [...events, said(20_300, "in", false)];
    expect(drainReportOf(play({ settings: ONE_APP, events: next }).full, 90_000, -1, 0).relay).toBe(
      "still_in_rotation",
    );
  });
});

describe("over all histories of a relay that tells the truth", () => {
  const outages = fc.array(
    fc.record({ atMs: fc.integer({ min: 150, max: 60_000 }), forMs: fc.integer({ min: 1, max: 20_000 }) }),
    {
      maxLength: 4,
    },
  );
  const outAtMs = fc.integer({ min: 200, max: 60_000 });

  const heard = (outMs: number, silences: readonly { atMs: number; forMs: number }[]): DrainEvent[] => {
    const silent = (ms: number) => silences.some((one) => ms >= one.atMs && ms < one.atMs + one.forMs);
    const moments = [150, outMs, ...silences.flatMap((one) => [one.atMs, one.atMs + one.forMs])];
    return [...new Set(moments)]
      .sort((a, b) => a - b)
      .map((ms) => said(ms, silent(ms) ? "unknown" : ms < outMs ? "in" : "out"));
  };

  test("silences make no drain longer", () => {
    fc.assert(
      fc.property(outAtMs, outages, (outMs, silences) => {
        expect(endOf(heard(outMs, silences))).toBeLessThanOrEqual(endOf(heard(outMs, [])));
      }),
    );
  });

  test("no drain ends before the withdrawal, whichever replica answers", () => {
    const doubts = fc.array(fc.integer({ min: 151, max: 60_000 }), { maxLength: 4 });
    fc.assert(
      fc.property(outAtMs, doubts, (outMs, laggards) => {
        const denials = laggards.filter((ms) => ms < outMs).map((ms) => said(ms, "in", false));
        const words = [...heard(outMs, []), ...denials].sort((a, b) => a.nowMs - b.nowMs);
        expect(endOf(words, { ...SETTINGS, deregistrationDelayMs: 0 })).toBeGreaterThanOrEqual(outMs);
      }),
    );
  });
});
