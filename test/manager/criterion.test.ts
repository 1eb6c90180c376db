/** Tests the criterion that ends the draining phase for each setting. */
import { describe, expect, test } from "vitest";
import { type Criterion, criterionOf, usesSockets } from "../../src/contract/criterion.ts";
import type { DrainedWhen, DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DriverName } from "../../src/contract/driver-table.ts";
import { isDrained } from "../../src/manager/drain/draining.ts";
import { countsBeforeDraining, earlyCountMs } from "../../src/manager/drain/pace.ts";
import { isReachable } from "../../src/manager/drain/sample-facts.ts";
import { type ObservedPod, ONE_APP, QUIET, UNKNOWN_OBSERVATION } from "./drain-script.ts";
import { DRAIN, draining, drainingPhase, type Parts } from "./drain-states.ts";

const DRIVERS: readonly DriverName[] = ["none", "envoy", "istio", "linkerd", "http"];
const settingsOf = (
  driver: DriverName,
  drainedWhen: DrainedWhen,
  more: Partial<DrainSettings> = {},
): DrainSettings => ({
  ...{ ...ONE_APP, driver, drainedWhen, ...more },
});

describe("the criterion for the end of a drain", () => {
  const CRITERIA_BY_SETTING: readonly (readonly [DrainedWhen, readonly Criterion[]])[] = [
    ["auto", ["quiet", "requests", "requests", "quiet", "quiet"]],
    ["quiet", ["quiet", "quiet", "quiet", "quiet", "quiet"]],
    // Linkerd's driver counts the proxy's clients.
    ["connections", ["connections", "connections", "connections", "clients", "connections"]],
    ["requests", ["quiet", "requests", "requests", "quiet", "quiet"]],
    ["deadline", ["deadline", "deadline", "deadline", "deadline", "deadline"]],
  ];

  test.for(
    CRITERIA_BY_SETTING.flatMap(([drainedWhen, criteria]) =>
      DRIVERS.map((driver, index) => ({ drainedWhen, driver, criterion: criteria[index] })),
    ),
  )(
    "is `$criterion` with `drained-when: $drainedWhen` and the driver $driver",
    ({ drainedWhen, driver, criterion }) => {
      expect(criterionOf(settingsOf(driver, drainedWhen))).toBe(criterion);
    },
  );

  test("is `requests` if the http driver has an active-url", () => {
    const activeUrl = "http://127.0.0.1/active";
    expect(criterionOf(settingsOf("http", "auto", { activeUrl }))).toBe("requests");
    expect(criterionOf(settingsOf("http", "requests", { activeUrl }))).toBe("requests");
  });

  test("requires samples of sockets unless it is `deadline` or a count that the driver reports", () => {
    const allCriteria: readonly Criterion[] = ["quiet", "connections", "requests", "clients", "deadline"];
    expect(allCriteria.filter(usesSockets)).toEqual(["quiet", "connections"]);
  });

  test("requires counts during the delays if the driver reports the total of requests", () => {
    expect(DRIVERS.filter((driver) => countsBeforeDraining(settingsOf(driver, "requests")))).toEqual([
      "envoy",
      "istio",
    ]);
    expect(DRIVERS.filter((driver) => countsBeforeDraining(settingsOf(driver, "quiet")))).toEqual([]);
    // The quiet period (2 s) may end with the delays. The first count is two count intervals (400 ms) before such a quiet period.
    const settings = settingsOf("envoy", "requests", { deregistrationDelayMs: 3_000 });
    expect(earlyCountMs(settings, 1_000)).toBe(1_000 + 5_000 + 3_000 - 2_000 - 400);
  });
});

/** `fromMs` is the start of the draining phase. */
type StateOverrides = Parts & { readonly fromMs?: number };
const isDrainedAt9s = (settings: DrainSettings, { fromMs = 5_000, ...parts }: StateOverrides): boolean => {
  const phase = drainingPhase({ drain: { ...DRAIN, ...parts.drain }, drainingFromMs: fromMs });
  return isDrained(settings, draining(parts), phase, 9_000);
};
const OPEN = { ...QUIET, openConnections: 1 };

describe("a drain with `drained-when: requests`", () => {
  const settings = settingsOf("envoy", "requests");
  const COUNT = { atMs: 9_000, knownAtMs: 9_000, active: 0, zeroSinceMs: 7_000 };
  test.for<[string, StateOverrides, boolean]>([
    ["ends after a quiet period without active requests", {}, true],
    ["continues until the last millisecond of the quiet period", { count: { zeroSinceMs: 7_001 } }, false],
    ["continues while a request is active", { count: { active: 1 } }, false],
    ["continues while the count is unknown", { count: { active: -1, zeroSinceMs: -1 } }, false],
    ["continues if the last count is older than the end of the quiet period", { count: { atMs: 8_800 } }, false],
    ["ends if no request was active since the start of the clock", { count: { zeroSinceMs: 0 } }, true],
    [
      "ends if a client was connected without requests for the whole quiet period",
      { sample: { observation: OPEN }, fromMs: 7_000 },
      true,
    ],
    [
      "continues if a client was connected for less than the quiet period",
      { sample: { observation: OPEN }, fromMs: 7_001 },
      false,
    ],
    ["continues until a sample succeeds", { sample: { observation: UNKNOWN_OBSERVATION }, fromMs: 7_001 }, false],
    ["ends before a whole quiet period if no client is connected", { fromMs: 7_001 }, true],
  ])("%s", ([, overrides, isEnded]) => {
    const sample = { observation: QUIET, atMs: 9_000, ...overrides.sample };
    expect(isDrainedAt9s(settings, { ...overrides, sample, count: { ...COUNT, ...overrides.count } })).toBe(isEnded);
  });
});

describe("a drain with `drained-when: quiet`", () => {
  const observedPod = (overrides: Partial<ObservedPod>): ObservedPod => ({
    ...OPEN,
    lastEvidenceMs: 7_000,
    ...overrides,
  });
  test.for<[string, StateOverrides, boolean]>([
    ["ends a quiet period after the last traffic", {}, true],
    [
      "continues until the last millisecond of the quiet period",
      { sample: { observation: observedPod({ lastEvidenceMs: 7_001 }) } },
      false,
    ],
    ["continues while a connection is busy", { sample: { observation: observedPod({ activity: "busy" }) } }, false],
    ["continues if the last sample is older than the end of the quiet period", { sample: { atMs: 8_850 } }, false],
    ["continues after a failed sample", { sample: { observation: UNKNOWN_OBSERVATION } }, false],
    ["continues for at least a quiet period after the trigger", { drain: { triggeredAtMs: 7_001 } }, false],
    [
      "ends immediately if the Pod has only UDP sockets",
      { sample: { observation: { ...QUIET, hasTcpListener: false, hasUdp: true, lastEvidenceMs: 8_999 } } },
      true,
    ],
    [
      "continues if the Pod has UDP sockets and TCP connections",
      { sample: { observation: observedPod({ hasTcpListener: false, hasUdp: true, lastEvidenceMs: 8_999 }) } },
      false,
    ],
  ])("%s", ([, overrides, isEnded]) => {
    const sample = { observation: observedPod({}), atMs: 9_000, ...overrides.sample };
    expect(isDrainedAt9s(settingsOf("none", "quiet"), { ...overrides, sample })).toBe(isEnded);
  });
});

test("a drain without open connections ends if `drained-when` is `connections`, but not if it is `deadline`", () => {
  const partsWithConnections = (openConnections: number): Parts => ({
    sample: { observation: { ...QUIET, openConnections, lastEvidenceMs: 8_999 }, atMs: 9_000 },
  });
  expect([0, 1].map((n) => isDrainedAt9s(settingsOf("none", "connections"), partsWithConnections(n)))).toEqual([
    true,
    false,
  ]);
  expect([0, 1].map((n) => isDrainedAt9s(settingsOf("none", "deadline"), partsWithConnections(n)))).toEqual([
    false,
    false,
  ]);
});

test("a Pod is reachable if a successful sample contains a TCP listener or a UDP socket", () => {
  const isReachableWith = (hasTcpListener: boolean, hasUdp: boolean) =>
    isReachable({ ...QUIET, hasTcpListener, hasUdp });
  expect([isReachableWith(true, false), isReachableWith(false, true), isReachableWith(false, false)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(isReachable(UNKNOWN_OBSERVATION)).toBe(false);
});
