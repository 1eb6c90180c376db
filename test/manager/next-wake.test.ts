/** Tests the time of the next wake-up and of the next sample. */
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { nextWake } from "../../src/manager/drain/drain-machine.ts";
import { type DrainState, type Hold, idleState } from "../../src/manager/drain/drain-state.ts";
import { holdOf } from "../../src/manager/drain/hook-calls.ts";
import { type ObservedPod, ONE_APP, QUIET } from "./drain-script.ts";
import { done, draining, holding, type Parts, withdrawing } from "./drain-states.ts";

/** The defaults are a drain delay of 5 s, a quiet period of 2 s, a drain timeout of 60 s and an app's grace period of 30 s. */
const REQUESTS: DrainSettings = {
  ...{ ...ONE_APP, driver: "http", drainedWhen: "requests" },
  activeUrl: "http://127.0.0.1/active",
};
const DEADLINE: DrainSettings = { ...ONE_APP, drainedWhen: "deadline" };
const BUSY: ObservedPod = { ...QUIET, openConnections: 1, activity: "busy", lastEvidenceMs: 5_000 };
const IDLE: ObservedPod = { ...BUSY, activity: "quiet" };
const MANY_SOCKETS = { socketCount: 100_000 };

const createHold = (role: Hold["role"], overrides: Partial<Hold> = {}): Hold => ({
  ...holdOf(1, 0, "c", role, "10.0.0.1"),
  ...overrides,
});

const partsWithHolds = (...calls: readonly Hold[]): Parts => ({
  stateOverrides: { hooks: { ...idleState([]).hooks, holds: calls } },
});

type WakeCase = readonly [
  title: string,
  overrides: Parts,
  nowMs: number,
  wake: readonly [wakeAtMs: number, sampleAtMs: number],
  settings?: DrainSettings,
];

function testWakes(stateOf: (overrides: Parts) => DrainState, rows: readonly WakeCase[]): void {
  test.for(rows)("%s", ([, overrides, nowMs, [wakeAtMs, sampleAtMs], settings = ONE_APP]) => {
    expect(nextWake(settings, stateOf(overrides), nowMs)).toEqual({ wakeAtMs, sampleAtMs });
  });
}

describe("before a drain", () => {
  testWakes(
    ({ stateOverrides }) => ({ ...idleState([]), ...stateOverrides }),
    [
      ["no timer is set", {}, 700, [-1, -1]],
      [
        "the timer fires when a hook must be answered as a restart",
        partsWithHolds(createHold("app", { dueMs: 5_000 })),
        10,
        [5_000, -1],
      ],
      [
        "a manager that received SIGTERM samples immediately",
        { stateOverrides: { isStopRequested: true } },
        700,
        [700, 700],
      ],
    ],
  );
});

describe("during the delays of a drain", () => {
  testWakes(withdrawing, [
    ["the first sample is immediate", {}, 40, [40, 40]],
    [
      "the next sample is at the start of the last quiet period of the delays",
      { sample: { atMs: 0 } },
      0,
      [2_850, 2_850],
    ],
    ["samples are frequent in the last quiet period of the delays", { sample: { atMs: 2_850 } }, 2_850, [3_000, 3_000]],
    ["there is a sample at the end of the delays", { sample: { atMs: 4_900 } }, 4_900, [5_000, 5_000]],
    ["a timer that fired early is set again", { sample: { atMs: 5_000 } }, 5_000, [5_001, 5_001]],
    [
      "a sample that needs much CPU time is delayed beyond the quiet period",
      { sample: { atMs: 0, ...MANY_SOCKETS } },
      0,
      [5_000, 25_000],
    ],
    [
      "no sample is taken before the deadline if `drained-when` is `deadline`",
      { sample: { atMs: 0 } },
      0,
      [5_000, 65_000],
      DEADLINE,
    ],
    [
      "no sample is taken before the deadline if the driver counts requests",
      { sample: { atMs: 0 } },
      0,
      [5_000, 65_000],
      REQUESTS,
    ],
    [
      "the timer takes the deregistration delay into account",
      { sample: { atMs: 0 } },
      0,
      [12_850, 12_850],
      { ...ONE_APP, deregistrationDelayMs: 10_000 },
    ],
    [
      "the timer fires at the deadline at the latest",
      { sample: { atMs: 0 }, drain: { deadlineMs: 1_800 } },
      0,
      [1_800, 2_850],
    ],
  ]);
});

describe("after the delays of a drain", () => {
  const busyState = (overrides: Parts): DrainState =>
    draining({ ...overrides, sample: { atMs: 5_000, observation: BUSY, ...overrides.sample } });
  const LONG_DRAIN = { drain: { deadlineMs: 600_000 } };
  testWakes(busyState, [
    ["busy connections are sampled frequently", {}, 5_000, [5_150, 5_150]],
    [
      "samples are frequent for a minute after the delays",
      { sample: { atMs: 65_000 }, ...LONG_DRAIN },
      65_000,
      [65_150, 65_150],
    ],
    [
      "samples are a second apart after the first minute",
      { sample: { atMs: 65_001 }, ...LONG_DRAIN },
      65_001,
      [66_001, 66_001],
    ],
    [
      "samples of quiet connections remain frequent",
      { sample: { atMs: 65_001, observation: { ...IDLE, lastEvidenceMs: 64_900 } }, ...LONG_DRAIN },
      65_001,
      [65_151, 65_151],
    ],
    [
      "there is a sample at the end of the quiet period",
      { sample: { atMs: 6_900, observation: IDLE } },
      6_900,
      [7_000, 7_000],
    ],
    ["a timer that fires late does not cause two samples", { sample: { atMs: 5_000 } }, 9_000, [9_001, 9_001]],
    ["there is a sample at the deadline", { sample: { atMs: 64_950 } }, 64_950, [65_000, 65_000]],
    ["the timer fires only at the deadline if `drained-when` is `deadline`", {}, 5_000, [65_000, 65_000], DEADLINE],
    ["a driver counts requests five times a second", { count: { atMs: 5_000 } }, 5_000, [5_200, 5_200], REQUESTS],
    [
      "a driver does not start a count before its last count has ended",
      { count: { atMs: 5_000, isPending: true } },
      5_150,
      [65_000, 65_000],
      REQUESTS,
    ],
    [
      "a driver counts requests at the end of the quiet period",
      { count: { atMs: 6_900, zeroSinceMs: 5_000 } },
      6_900,
      [7_000, 7_000],
      REQUESTS,
    ],
    [
      "a driver counts requests again after a completed quiet period",
      { count: { atMs: 7_000, zeroSinceMs: 5_000 } },
      7_000,
      [7_200, 7_200],
      REQUESTS,
    ],
    [
      "the sockets are not sampled if the driver counts and the Pod has many connections",
      { count: { atMs: 5_000 }, sample: MANY_SOCKETS },
      5_000,
      [5_200, 30_000],
      REQUESTS,
    ],
  ]);
});

describe("after a drain, while preStop calls are held,", () => {
  const holdingAt10s = (overrides: Parts): DrainState =>
    holding({ ...overrides, sample: { atMs: 10_000, observation: QUIET, ...overrides.sample } });
  const CLASSIC: DrainSettings = { ...ONE_APP, classic: true };
  testWakes(holdingAt10s, [
    [
      "the answer to a hook is delayed at most by the app's grace period",
      partsWithHolds(createHold("drain")),
      10_000,
      [95_000, -1],
    ],
    [
      "samples of other processes' sockets continue for a proxy",
      partsWithHolds(createHold("mesh-proxy")),
      10_000,
      [10_250, 10_250],
    ],
    [
      "no sample is taken while the proxy's original hook runs",
      partsWithHolds(createHold("mesh-proxy", { stage: "hook-running" })),
      10_000,
      [95_000, -1],
    ],
    [
      "no sample is taken while the app's original hook runs",
      partsWithHolds(createHold("app", { stage: "hook-running" })),
      10_000,
      [95_000, -1],
    ],
    [
      "samples of the app's ports continue in classic mode",
      partsWithHolds(createHold("drain")),
      10_000,
      [10_250, 10_250],
      CLASSIC,
    ],
    [
      "the timer fires at the time limit of the proxy's hook at the latest",
      { ...partsWithHolds(createHold("mesh-proxy")), sample: { atMs: 94_900 } },
      94_900,
      [95_000, 95_000],
    ],
  ]);
});

describe("after a drain without held preStop calls", () => {
  test("no timer is set in a completed Pod", () => {
    expect(nextWake(ONE_APP, done(), 11_000)).toEqual({ wakeAtMs: -1, sampleAtMs: -1 });
  });

  test("a sample one minute after the answers detects that the Pod continues", () => {
    expect(nextWake(ONE_APP, done({ rearmAtMs: 71_000 }), 11_000)).toEqual({ wakeAtMs: 71_000, sampleAtMs: 71_000 });
  });
});
