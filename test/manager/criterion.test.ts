/** What ends the draining phase, by settings, and to the millisecond. */
import { describe, expect, test } from "vitest";
import { type Criterion, criterionOf, watchesSockets } from "../../src/contract/criterion.ts";
import type { DrainedWhen, DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DriverName } from "../../src/contract/driver-table.ts";
import { canBeReached, earlyCountMs, isDrained, seesBetweenCounts } from "../../src/manager/drain/criterion.ts";
import { type DrainState, idleState } from "../../src/manager/drain/drain-state.ts";
import { ONE_APP, QUIET, UNKNOWN } from "./drain-script.ts";

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
    expect(all.filter(watchesSockets)).toEqual(["quiet", "connections"]);
  });

  test("of requests is counted before the drain where the driver sees what comes and goes", () => {
    expect(DRIVERS.filter((driver) => seesBetweenCounts(settingsOf(driver, "requests")))).toEqual(["envoy", "istio"]);
    expect(DRIVERS.filter((driver) => seesBetweenCounts(settingsOf(driver, "quiet")))).toEqual([]);
    // Two counts before the quiet period that ends with the delays.
    const settings = settingsOf("envoy", "requests", { deregistrationDelayMs: 3_000 });
    expect(earlyCountMs(settings, 1_000)).toBe(1_000 + 5_000 + 3_000 - 2_000 - 400);
  });
});

const at = (over: Partial<DrainState>): DrainState => ({
  ...{ ...idleState([]), triggeredAtMs: 0, deadlineMs: 65_000, drainingFromMs: 5_000 },
  ...over,
});
const OPEN = { ...QUIET, openConnections: 1 };

describe("a drain by requests is over", () => {
  const settings = settingsOf("envoy", "requests");
  const counted = { countedAtMs: 9_000, knownCountAtMs: 9_000, active: 0, activeZeroSinceMs: 7_000, lookedAtMs: 9_000 };
  test.for<[string, Partial<DrainState>, boolean]>([
    ["when none was active for the quiet period", {}, true],
    ["not a millisecond sooner", { activeZeroSinceMs: 7_001 }, false],
    ["not while one is active", { active: 1 }, false],
    ["not where the driver does not know", { active: -1, activeZeroSinceMs: -1 }, false],
    ["not by a count of before", { countedAtMs: 8_800 }, false],
    ["when none was active since the clock's zero", { activeZeroSinceMs: 0 }, true],
    [
      "with a client connected, which had the quiet period to leave",
      { observation: OPEN, drainingFromMs: 7_000 },
      true,
    ],
    ["not with a client that had less", { observation: OPEN, drainingFromMs: 7_001 }, false],
    ["not where it is not known whether one is connected", { observation: UNKNOWN, drainingFromMs: 7_001 }, false],
    ["with no client connected, as none needs the time", { drainingFromMs: 7_001 }, true],
  ])("%s", ([, over, isOver]) => {
    expect(isDrained(settings, at({ observation: QUIET, ...counted, ...over }), 9_000)).toBe(isOver);
  });
});

describe("a drain by quiet is over", () => {
  const seen = (over: object) => ({ ...OPEN, lastEvidenceMs: 7_000, ...over });
  test.for<[string, Partial<DrainState>, boolean]>([
    ["when the last traffic is the quiet period ago", {}, true],
    ["not a millisecond sooner", { observation: seen({ lastEvidenceMs: 7_001 }) }, false],
    ["not while anything is under way", { observation: seen({ calm: false }) }, false],
    ["not by a look of before", { lookedAtMs: 8_850 }, false],
    ["not by a look that failed", { observation: UNKNOWN }, false],
    ["not a quiet period after the traffic, but before one after the trigger", { triggeredAtMs: 7_001 }, false],
    [
      "at once where only datagrams come",
      { observation: { ...QUIET, hasTcpListener: false, hasUdp: true, lastEvidenceMs: 8_999 } },
      true,
    ],
    [
      "not at once where datagrams come beside connections",
      { observation: seen({ hasTcpListener: false, hasUdp: true, lastEvidenceMs: 8_999 }) },
      false,
    ],
  ])("%s", ([, over, isOver]) => {
    const state = at({ observation: seen({}), lookedAtMs: 9_000, ...over });
    expect(isDrained(settingsOf("none", "quiet"), state, 9_000)).toBe(isOver);
  });

  test("by connections when none is open, and never before its deadline by that alone", () => {
    const state = (openConnections: number) =>
      at({ observation: { ...QUIET, openConnections, lastEvidenceMs: 8_999 }, lookedAtMs: 9_000 });
    expect([0, 1].map((n) => isDrained(settingsOf("none", "connections"), state(n), 9_000))).toEqual([true, false]);
    expect([0, 1].map((n) => isDrained(settingsOf("none", "deadline"), state(n), 9_000))).toEqual([false, false]);
  });
});

test("a Pod can be reached by what listens or takes datagrams, as far as that is known", () => {
  const reached = (hasTcpListener: boolean, hasUdp: boolean) => canBeReached({ ...QUIET, hasTcpListener, hasUdp });
  expect([reached(true, false), reached(false, true), reached(false, false)]).toEqual([true, true, false]);
  expect(canBeReached(UNKNOWN)).toBe(false);
});
