/** The report at any moment of a drain: what each phase took, who stayed, what the relay knew. */
import { expect, test } from "vitest";
import { LEFT_LIMIT, type PhaseDurations } from "../../src/contract/drain-report.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import { type DrainState, idleState, type RelayKnows } from "../../src/manager/drain/drain-state.ts";
import { busyUntil, hook, ONE_APP, ownHook, play, QUIET, relaySaid } from "./drain-script.ts";

const IDLE = idleState([]);
const took = (withdrawing: number, deregistration: number, draining: number, holding: number): PhaseDurations => ({
  withdrawing,
  deregistration,
  draining,
  holding,
});

test("before any drain there is nothing to tell", () => {
  expect(drainReportOf(IDLE, 1_000_000, -1, 0)).toEqual({
    ...{ version: 1, phase: "idle", outcome: "none", trigger: "none" },
    milliseconds: took(0, 0, 0, 0),
    ...{ left: [], leftTotal: 0, witness: "none" },
    ...{ why: "No drain has run.", relay: "none", withdrawnAfterMs: -1 },
  });
});

const AT_ZERO = { triggeredAtMs: 0 };
test.for<[string, Partial<DrainState>, number, PhaseDurations]>([
  ["one that has just begun, at the clock's zero", AT_ZERO, 0, took(0, 0, 0, 0)],
  ["one that waits for its delay", { triggeredAtMs: 100 }, 2_100, took(2_000, 0, 0, 0)],
  ["one whose Pod was withdrawn", { ...AT_ZERO, deregistrationFromMs: 5_000 }, 7_000, took(5_000, 2_000, 0, 0)],
  ["one without a delay", { ...AT_ZERO, deregistrationFromMs: 0, drainingFromMs: 0 }, 700, took(0, 0, 700, 0)],
  [
    "one that drains",
    { ...AT_ZERO, deregistrationFromMs: 5_000, drainingFromMs: 8_000 },
    8_900,
    took(5_000, 3_000, 900, 0),
  ],
  [
    "one that holds",
    { ...AT_ZERO, deregistrationFromMs: 5_000, drainingFromMs: 8_000, holdingFromMs: 9_000 },
    9_400,
    took(5_000, 3_000, 1_000, 400),
  ],
  ["one that held at once", { ...AT_ZERO, holdingFromMs: 0 }, 400, took(0, 0, 0, 400)],
  [
    "one that is over, however long ago",
    { ...AT_ZERO, deregistrationFromMs: 5_000, drainingFromMs: 8_000, holdingFromMs: 9_000, doneAtMs: 9_500 },
    99_000,
    took(5_000, 3_000, 1_000, 500),
  ],
  ["one that was over at once", { ...AT_ZERO, holdingFromMs: 0, doneAtMs: 0 }, 99_000, took(0, 0, 0, 0)],
  ["one with fractions of milliseconds", { triggeredAtMs: 0.4 }, 10.1, took(10, 0, 0, 0)],
])("the phases of %s", ([, over, nowMs, milliseconds]) => {
  expect(drainReportOf({ ...IDLE, ...over }, nowMs, -1, 0).milliseconds).toEqual(milliseconds);
});

const knows = (over: Partial<RelayKnows>): RelayKnows => ({ ...IDLE.relay, ...over });
test.for<[Partial<DrainState>, string, number]>([
  [{}, "none", -1],
  [{ relay: knows({ reason: "no answer yet" }) }, "unknown: no answer yet", -1],
  [{ relay: knows({ offered: "in" }) }, "offered", -1],
  [{ relay: knows({ offered: "in" }), stillInRotation: true }, "still_in_rotation", -1],
  [{ relay: knows({ offered: "out" }), withdrawnAtMs: 1_700.4 }, "withdrawn", 700],
  [{ relay: knows({ offered: "out" }), withdrawnAtMs: 1_000 }, "withdrawn", 0],
  [{ relay: knows({ offered: "out" }), withdrawnAtMs: 400 }, "withdrawn", 0],
  [{ relay: knows({ offered: "out" }), withdrawnAtMs: 1_700, triggeredAtMs: -1 }, "withdrawn", -1],
  [{ relay: knows({ offered: "out" }), withdrawnAtMs: 0, triggeredAtMs: 0 }, "withdrawn", 0],
  [{ relay: knows({ reason: "it fell silent" }), withdrawnAtMs: 1_700 }, "unknown: it fell silent", 700],
])(
  "of a relay of which the drain remembers %j it says %j, withdrawn after %d ms",
  ([over, relay, withdrawnAfterMs]) => {
    expect(drainReportOf({ ...IDLE, triggeredAtMs: 1_000, ...over }, 9_000, -1, 0)).toMatchObject({
      relay,
      withdrawnAfterMs,
    });
  },
);

const client = (at: number) => ({ local: "10.0.0.5:8080", peer: `10.0.0.9:${at}`, ageMs: 1, state: "ESTABLISHED" });
const crowded = { ...QUIET, left: Array.from({ length: LEFT_LIMIT + 5 }, (_, at) => client(at)), leftTotal: 900 };

test("names as many open connections as a report holds, and counts all", () => {
  const report = drainReportOf({ ...IDLE, triggeredAtMs: 0, observation: crowded }, 10, -1, 0);
  expect(report).toMatchObject({ left: crowded.left.slice(0, LEFT_LIMIT), leftTotal: 900, witness: "netlink" });
  expect(JSON.stringify(report)).not.toContain("unfollowed");
});

test("says how many clients were to be sent away, and nothing of it where no process can be told", () => {
  const state = { ...IDLE, triggeredAtMs: 0, drainingFromMs: 5, openAtDraining: 20 };
  expect(drainReportOf(state, 10, 3, 0).farewell).toEqual({ processes: 3, missed: 0, connections: 20 });
  expect(drainReportOf(state, 10, 3, 1).farewell).toEqual({
    processes: 3,
    missed: 1,
    connections: 20,
  });
  expect(drainReportOf(IDLE, 10, 0, 0).farewell).toEqual({ processes: 0, missed: 0, connections: -1 });
  expect(JSON.stringify(drainReportOf(state, 10, -1, 0))).not.toContain("farewell");
});

test("remembers how many connections were open when the draining began", () => {
  const events = [hook(100, 1), ownHook(110, 2)];
  const { state } = play({ settings: ONE_APP, events, pod: busyUntil(20_000) });
  expect(state.drainingFromMs).toBe(5_110);
  expect(state.openAtDraining).toBe(1);
});

test("counts the connections that could not be followed", () => {
  const observation = { ...crowded, unfollowed: 3 };
  expect(drainReportOf({ ...IDLE, triggeredAtMs: 0, observation }, 10, -1, 0)).toMatchObject({ unfollowed: 3 });
});

test("tells what was seen when the drain ended, whatever later looks see", () => {
  const state = { ...IDLE, triggeredAtMs: 0, observation: QUIET, seenAtEnd: crowded };
  expect(drainReportOf(state, 10, -1, 0).leftTotal).toBe(0);
  expect(drainReportOf({ ...state, holdingFromMs: 0 }, 10, -1, 0).leftTotal).toBe(900);
});

test("a drain that was played tells the same", () => {
  const events = [hook(100, 1), ownHook(110, 2), relaySaid(2_110, "out", true)];
  const { state } = play({ settings: { ...ONE_APP, deregistrationDelayMs: 3_000 }, events });
  expect(drainReportOf(state, 60_000, -1, 0)).toMatchObject({
    ...{ phase: "done", outcome: "drained", trigger: "hook", relay: "withdrawn", withdrawnAfterMs: 2_000 },
    milliseconds: took(5_000, 3_000, 0, 0),
  });
});
