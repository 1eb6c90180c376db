/** When the drain wants to be called again, and when with a look at the sockets: neither too late nor for nothing. */
import { describe, expect, test } from "vitest";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { nextWake } from "../../src/manager/drain/drain-machine.ts";
import { type DrainState, type Hold, idleState } from "../../src/manager/drain/drain-state.ts";
import { holdOf } from "../../src/manager/drain/hook-calls.ts";
import { ONE_APP, QUIET, type SeenPod } from "./drain-script.ts";
import { done, draining, holding, type Parts, withdrawing } from "./drain-states.ts";

/** Delays of 5 s, quiet for 2 s, a timeout of 60 s, an app's grace of 30 s. */
const REQUESTS: DrainSettings = {
  ...{ ...ONE_APP, driver: "http", drainedWhen: "requests" },
  activeUrl: "http://127.0.0.1/active",
};
const DEADLINE: DrainSettings = { ...ONE_APP, drainedWhen: "deadline" };
const BUSY: SeenPod = { ...QUIET, openConnections: 1, activity: "busy", lastEvidenceMs: 5_000 };
const CALM: SeenPod = { ...BUSY, activity: "quiet" };
const CROWD = { sockets: 100_000 };

const held = (role: Hold["role"], over: Partial<Hold> = {}): Hold => ({
  ...holdOf(1, 0, "c", role, "10.0.0.1"),
  ...over,
});

const holds = (...calls: readonly Hold[]): Parts => ({
  more: { hooks: { ...idleState([]).hooks, holds: calls } },
});

type Row = readonly [
  says: string,
  over: Parts,
  nowMs: number,
  wake: readonly [wakeAtMs: number, sampleAtMs: number],
  settings?: DrainSettings,
];

function wakesAt(stateOf: (over: Parts) => DrainState, rows: readonly Row[]): void {
  test.for(rows)("%s", ([, over, nowMs, [wakeAtMs, sampleAtMs], settings = ONE_APP]) => {
    expect(nextWake(settings, stateOf(over), nowMs)).toEqual({ wakeAtMs, sampleAtMs });
  });
}

describe("without a drain", () => {
  wakesAt(
    ({ more }) => ({ ...idleState([]), ...more }),
    [
      ["there is nothing to wake for", {}, 700, [-1, -1]],
      ["a hook is waited for until it is a restart", holds(held("app", { dueMs: 5_000 })), 10, [5_000, -1]],
      ["a manager that is stopped looks at once", { more: { stopRequested: true } }, 700, [700, 700]],
    ],
  );
});

describe("while the Pod is withdrawn", () => {
  wakesAt(withdrawing, [
    ["the first look comes at once", {}, 40, [40, 40]],
    ["the next ones only serve the quiet that ends with the delays", { sample: { atMs: 0 } }, 0, [2_850, 2_850]],
    ["they are dense from there on", { sample: { atMs: 2_850 } }, 2_850, [3_000, 3_000]],
    ["the end of the delays has a look of its own", { sample: { atMs: 4_900 } }, 4_900, [5_000, 5_000]],
    ["a timer that fired early is set again", { sample: { atMs: 5_000 } }, 5_000, [5_001, 5_001]],
    [
      "a look that costs more than the quiet period waits for its pace",
      { sample: { atMs: 0, ...CROWD } },
      0,
      [5_000, 25_000],
    ],
    ["where the deadline decides no look is needed", { sample: { atMs: 0 } }, 0, [5_000, 65_000], DEADLINE],
    ["where a driver counts, neither", { sample: { atMs: 0 } }, 0, [5_000, 65_000], REQUESTS],
    [
      "the deregistration belongs to the delays",
      { sample: { atMs: 0 } },
      0,
      [12_850, 12_850],
      { ...ONE_APP, deregistrationDelayMs: 10_000 },
    ],
    ["the deadline is never slept over", { sample: { atMs: 0 }, drain: { deadlineMs: 1_800 } }, 0, [1_800, 2_850]],
  ]);
});

describe("while it drains", () => {
  const busy = (over: Parts): DrainState =>
    draining({ ...over, sample: { atMs: 5_000, observation: BUSY, ...over.sample } });
  const LONG = { drain: { deadlineMs: 600_000 } };
  wakesAt(busy, [
    ["busy connections are looked at often", {}, 5_000, [5_150, 5_150]],
    ["a minute later too", { sample: { atMs: 65_000 }, ...LONG }, 65_000, [65_150, 65_150]],
    ["and then once a second", { sample: { atMs: 65_001 }, ...LONG }, 65_001, [66_001, 66_001]],
    [
      "unless they are quiet",
      { sample: { atMs: 65_001, observation: { ...CALM, lastEvidenceMs: 64_900 } }, ...LONG },
      65_001,
      [65_151, 65_151],
    ],
    [
      "the end of the quiet period has a look of its own",
      { sample: { atMs: 6_900, observation: CALM } },
      6_900,
      [7_000, 7_000],
    ],
    ["a late tick is no reason to look twice at once", { sample: { atMs: 5_000 } }, 9_000, [9_001, 9_001]],
    ["the deadline has a look of its own", { sample: { atMs: 64_950 } }, 64_950, [65_000, 65_000]],
    ["where the deadline decides, it alone", {}, 5_000, [65_000, 65_000], DEADLINE],
    ["a driver is asked five times a second", { count: { atMs: 5_000 } }, 5_000, [5_200, 5_200], REQUESTS],
    ["and not while it is asked", { count: { atMs: 5_000, pending: true } }, 5_150, [65_000, 65_000], REQUESTS],
    [
      "the count that ends the drain comes with the quiet period's end",
      { count: { atMs: 6_900, zeroSinceMs: 5_000 } },
      6_900,
      [7_000, 7_000],
      REQUESTS,
    ],
    [
      "a quiet period that is over waits for the next count",
      { count: { atMs: 7_000, zeroSinceMs: 5_000 } },
      7_000,
      [7_200, 7_200],
      REQUESTS,
    ],
    [
      "a count among a crowd comes without a look",
      { count: { atMs: 5_000 }, sample: CROWD },
      5_000,
      [5_200, 30_000],
      REQUESTS,
    ],
  ]);
});

describe("while it holds", () => {
  const held10s = (over: Parts): DrainState =>
    holding({ ...over, sample: { atMs: 10_000, observation: QUIET, ...over.sample } });
  const CLASSIC: DrainSettings = { ...ONE_APP, classic: true };
  wakesAt(held10s, [
    ["the app's grace bounds it", holds(held("drain")), 10_000, [95_000, -1]],
    ["a proxy is let go when no other process has a socket", holds(held("mesh-proxy")), 10_000, [10_250, 10_250]],
    ["not before its own hook has run", holds(held("mesh-proxy", { stage: "hook-running" })), 10_000, [95_000, -1]],
    ["an app whose hook runs is not looked at", holds(held("app", { stage: "hook-running" })), 10_000, [95_000, -1]],
    ["a classic manager waits for the app's ports", holds(held("drain")), 10_000, [10_250, 10_250], CLASSIC],
    ["the bound is met exactly", { ...holds(held("mesh-proxy")), sample: { atMs: 94_900 } }, 94_900, [95_000, 95_000]],
  ]);
});

describe("after it", () => {
  test("nothing wakes a Pod that is over", () => {
    expect(nextWake(ONE_APP, done(), 11_000)).toEqual({ wakeAtMs: -1, sampleAtMs: -1 });
  });

  test("a sample is due that shows whether it lives on", () => {
    expect(nextWake(ONE_APP, done({ rearmAtMs: 71_000 }), 11_000)).toEqual({ wakeAtMs: 71_000, sampleAtMs: 71_000 });
  });
});
