/** What ends the draining phase, by settings, and to the millisecond. */
import { describe, expect, test } from "vitest";
import { type Criterion, criterionOf, usesSockets } from "../../src/contract/criterion.ts";
import type { DrainedWhen, DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DriverName } from "../../src/contract/driver-table.ts";
import { isDrained } from "../../src/manager/drain/draining.ts";
import { countsBeforeDraining, earlyCountMs } from "../../src/manager/drain/pace.ts";
import { canBeReached } from "../../src/manager/drain/sample-facts.ts";
import { ONE_APP, QUIET, type SeenPod, UNKNOWN } from "./drain-script.ts";
import { DRAIN, draining, drainingPhase, type Parts } from "./drain-states.ts";

const DRIVERS: readonly DriverName[] = ["none", "envoy", "istio", "linkerd", "http"];
const settingsOf = (
  driver: DriverName,
  drainedWhen: DrainedWhen,
  more: Partial<DrainSettings> = {},
): DrainSettings => ({
  ...{ ...ONE_APP, driver, drainedWhen, ...more },
});

describe("the criterion", () => {
  test.for<[DrainedWhen, readonly Criterion[]]>([
    ["auto", ["quiet", "requests", "requests", "quiet", "quiet"]],
    ["quiet", ["quiet", "quiet", "quiet", "quiet", "quiet"]],
    // Linkerd's driver counts the proxy's clients.
    ["connections", ["connections", "connections", "connections", "clients", "connections"]],
    ["requests", ["quiet", "requests", "requests", "quiet", "quiet"]],
    ["deadline", ["deadline", "deadline", "deadline", "deadline", "deadline"]],
  ])("of drained-when %s is, for none, envoy, istio, linkerd and http, %j", ([drainedWhen, criteria]) => {
    expect(DRIVERS.map((driver) => criterionOf(settingsOf(driver, drainedWhen)))).toEqual(criteria);
  });

  test("of an app that tells its active requests is them", () => {
    const activeUrl = "http://127.0.0.1/active";
    expect(criterionOf(settingsOf("http", "auto", { activeUrl }))).toBe("requests");
    expect(criterionOf(settingsOf("http", "requests", { activeUrl }))).toBe("requests");
  });

  test("is judged by looks where sockets decide", () => {
    const all: readonly Criterion[] = ["quiet", "connections", "requests", "clients", "deadline"];
    expect(all.filter(usesSockets)).toEqual(["quiet", "connections"]);
  });

  test("of requests is counted before the drain where the driver sees what comes and goes", () => {
    expect(DRIVERS.filter((driver) => countsBeforeDraining(settingsOf(driver, "requests")))).toEqual([
      "envoy",
      "istio",
    ]);
    expect(DRIVERS.filter((driver) => countsBeforeDraining(settingsOf(driver, "quiet")))).toEqual([]);
    // Two counts before the quiet period that ends with the delays.
    const settings = settingsOf("envoy", "requests", { deregistrationDelayMs: 3_000 });
    expect(earlyCountMs(settings, 1_000)).toBe(1_000 + 5_000 + 3_000 - 2_000 - 400);
  });
});

/** `fromMs`: when the draining phase started. */
type Over = Parts & { readonly fromMs?: number };
const isOverAt9s = (settings: DrainSettings, { fromMs = 5_000, ...parts }: Over): boolean => {
  const phase = drainingPhase({ drain: { ...DRAIN, ...parts.drain }, drainingFromMs: fromMs });
  return isDrained(settings, draining(parts), phase, 9_000);
};
const OPEN = { ...QUIET, openConnections: 1 };

describe("a drain by requests is over", () => {
  const settings = settingsOf("envoy", "requests");
  const counted = { atMs: 9_000, knownAtMs: 9_000, active: 0, zeroSinceMs: 7_000 };
  test.for<[string, Over, boolean]>([
    ["when none was active for the quiet period", {}, true],
    ["not a millisecond sooner", { count: { zeroSinceMs: 7_001 } }, false],
    ["not while one is active", { count: { active: 1 } }, false],
    ["not where the driver does not know", { count: { active: -1, zeroSinceMs: -1 } }, false],
    ["not by a count of before", { count: { atMs: 8_800 } }, false],
    ["when none was active since the clock's zero", { count: { zeroSinceMs: 0 } }, true],
    [
      "with a client connected, which had the quiet period to leave",
      { sample: { observation: OPEN }, fromMs: 7_000 },
      true,
    ],
    ["not with a client that had less", { sample: { observation: OPEN }, fromMs: 7_001 }, false],
    ["not where it is not known whether one is connected", { sample: { observation: UNKNOWN }, fromMs: 7_001 }, false],
    ["with no client connected, as none needs the time", { fromMs: 7_001 }, true],
  ])("%s", ([, over, isOver]) => {
    const sample = { observation: QUIET, atMs: 9_000, ...over.sample };
    expect(isOverAt9s(settings, { ...over, sample, count: { ...counted, ...over.count } })).toBe(isOver);
  });
});

describe("a drain by quiet is over", () => {
  const seen = (over: Partial<SeenPod>): SeenPod => ({ ...OPEN, lastEvidenceMs: 7_000, ...over });
  test.for<[string, Over, boolean]>([
    ["when the last traffic is the quiet period ago", {}, true],
    ["not a millisecond sooner", { sample: { observation: seen({ lastEvidenceMs: 7_001 }) } }, false],
    ["not while anything is under way", { sample: { observation: seen({ activity: "busy" }) } }, false],
    ["not by a look of before", { sample: { atMs: 8_850 } }, false],
    ["not by a look that failed", { sample: { observation: UNKNOWN } }, false],
    [
      "not a quiet period after the traffic, but before one after the trigger",
      { drain: { triggeredAtMs: 7_001 } },
      false,
    ],
    [
      "at once where only datagrams come",
      { sample: { observation: { ...QUIET, hasTcpListener: false, hasUdp: true, lastEvidenceMs: 8_999 } } },
      true,
    ],
    [
      "not at once where datagrams come beside connections",
      { sample: { observation: seen({ hasTcpListener: false, hasUdp: true, lastEvidenceMs: 8_999 }) } },
      false,
    ],
  ])("%s", ([, over, isOver]) => {
    const sample = { observation: seen({}), atMs: 9_000, ...over.sample };
    expect(isOverAt9s(settingsOf("none", "quiet"), { ...over, sample })).toBe(isOver);
  });

  test("by connections when none is open, and never before its deadline by that alone", () => {
    const state = (openConnections: number): Parts => ({
      sample: { observation: { ...QUIET, openConnections, lastEvidenceMs: 8_999 }, atMs: 9_000 },
    });
    expect([0, 1].map((n) => isOverAt9s(settingsOf("none", "connections"), state(n)))).toEqual([true, false]);
    expect([0, 1].map((n) => isOverAt9s(settingsOf("none", "deadline"), state(n)))).toEqual([false, false]);
  });
});

test("a Pod can be reached by what listens or takes datagrams, as far as that is known", () => {
  const reached = (hasTcpListener: boolean, hasUdp: boolean) => canBeReached({ ...QUIET, hasTcpListener, hasUdp });
  expect([reached(true, false), reached(false, true), reached(false, false)]).toEqual([true, true, false]);
  expect(canBeReached(UNKNOWN)).toBe(false);
});
