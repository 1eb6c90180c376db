/** Tests the report of a drain in each phase: durations, remaining connections, the relay's status. */
import { expect, test } from "vitest";
import { LEFT_LIMIT, type PhaseDurations } from "../../src/contract/drain-report.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import {
  type DrainResult,
  type DrainState,
  idleState,
  NO_STATUS,
  type RelayStatus,
} from "../../src/manager/drain/drain-state.ts";
import { busyUntil, hook, ONE_APP, ownHook, play, QUIET, relayReported } from "./drain-script.ts";
import { done, draining, holding, RESULT, withdrawing } from "./drain-states.ts";

const IDLE = idleState([]);
const phaseDurations = (
  withdrawing: number,
  deregistration: number,
  draining: number,
  holding: number,
): PhaseDurations => ({
  withdrawing,
  deregistration,
  draining,
  holding,
});

test("the report before the first drain is empty", () => {
  expect(drainReportOf(IDLE, 1_000_000, -1, 0)).toEqual({
    ...{ version: 1, phase: "idle", outcome: "none", trigger: "none" },
    milliseconds: phaseDurations(0, 0, 0, 0),
    ...{ left: [], leftTotal: 0, evidenceSource: "none" },
    ...{ why: "No drain has run.", relay: "none", withdrawnAfterMs: -1 },
  });
});

const finishedState = (doneAtMs: number, times: Partial<DrainResult>) =>
  done({ doneAtMs, result: { ...RESULT, ...times } });
const IMMEDIATE_PHASES = { deregistrationFromMs: 0, drainingFromMs: 0, holdingFromMs: 0 };
const DRAINING_AT_8S = { deregistrationFromMs: 5_000, drainingFromMs: 8_000 };
test.for<[string, DrainState, number, PhaseDurations]>([
  ["a drain that starts at time 0", withdrawing(), 0, phaseDurations(0, 0, 0, 0)],
  [
    "a drain during its drain delay",
    withdrawing({ drain: { triggeredAtMs: 100 } }),
    2_100,
    phaseDurations(2_000, 0, 0, 0),
  ],
  [
    "a drain whose Pod was withdrawn",
    withdrawing({}, { deregistrationFromMs: 5_000 }),
    7_000,
    phaseDurations(5_000, 2_000, 0, 0),
  ],
  [
    "a drain without a delay",
    draining({}, { deregistrationFromMs: 0, drainingFromMs: 0 }),
    700,
    phaseDurations(0, 0, 700, 0),
  ],
  ["a draining Pod", draining({}, DRAINING_AT_8S), 8_900, phaseDurations(5_000, 3_000, 900, 0)],
  [
    "a drain whose hooks wait for their answers",
    holding({}, { result: { ...RESULT, ...DRAINING_AT_8S, holdingFromMs: 9_000 } }),
    9_400,
    phaseDurations(5_000, 3_000, 1_000, 400),
  ],
  [
    "a drain that only delayed the answers to hooks",
    holding({}, { result: { ...RESULT, ...IMMEDIATE_PHASES } }),
    400,
    phaseDurations(0, 0, 0, 400),
  ],
  [
    "a drain that ended long ago",
    finishedState(9_500, { ...DRAINING_AT_8S, holdingFromMs: 9_000 }),
    99_000,
    phaseDurations(5_000, 3_000, 1_000, 500),
  ],
  ["a drain that ended immediately", finishedState(0, IMMEDIATE_PHASES), 99_000, phaseDurations(0, 0, 0, 0)],
  [
    "a drain with fractional milliseconds",
    withdrawing({ drain: { triggeredAtMs: 0.4 } }),
    10.1,
    phaseDurations(10, 0, 0, 0),
  ],
])("the report has the durations of %s", ([, state, nowMs, milliseconds]) => {
  expect(drainReportOf(state, nowMs, -1, 0).milliseconds).toEqual(milliseconds);
});

const TRIGGERED_AT_1S = { drain: { triggeredAtMs: 1_000 } };
const withRelay = (relay: Partial<RelayStatus>): DrainState =>
  withdrawing({ ...TRIGGERED_AT_1S, stateOverrides: { relay: { ...NO_STATUS, ...relay } } });
test.for<[string, DrainState, string, number]>([
  ["that did not receive a request", withRelay({}), "none", -1],
  ["that has not responded yet", withRelay({ reason: "no answer yet" }), "unknown: no answer yet", -1],
  ["that reports the Pod as not withdrawn", withRelay({ endpointState: "in" }), "offered", -1],
  [
    "that reported the Pod as not withdrawn at the start of draining",
    draining(
      { ...TRIGGERED_AT_1S, stateOverrides: { relay: { ...NO_STATUS, endpointState: "in" } } },
      { wasStillListed: true },
    ),
    "not_terminating",
    -1,
  ],
  ["that reports the Pod as withdrawn", withRelay({ endpointState: "out", withdrawnAtMs: 1_700.4 }), "withdrawn", 700],
  [
    "that reported the Pod as withdrawn at the trigger",
    withRelay({ endpointState: "out", withdrawnAtMs: 1_000 }),
    "withdrawn",
    0,
  ],
  [
    "that reported the Pod as withdrawn before the trigger",
    withRelay({ endpointState: "out", withdrawnAtMs: 400 }),
    "withdrawn",
    0,
  ],
  [
    "that reports the Pod as withdrawn without a drain",
    { ...IDLE, relay: { ...NO_STATUS, endpointState: "out", withdrawnAtMs: 1_700 } },
    "withdrawn",
    -1,
  ],
  [
    "that stopped responding",
    withRelay({ reason: "the relay stopped responding", withdrawnAtMs: 1_700 }),
    "unknown: the relay stopped responding",
    700,
  ],
])("the report has the status of a relay %s", ([, state, relay, withdrawnAfterMs]) => {
  expect(drainReportOf(state, 9_000, -1, 0)).toMatchObject({ relay, withdrawnAfterMs });
});

const openConnection = (at: number) => ({
  local: "10.0.0.5:8080",
  peer: `10.0.0.9:${at}`,
  ageMs: 1,
  state: "ESTABLISHED",
});
const manyConnections = {
  ...QUIET,
  left: Array.from({ length: LEFT_LIMIT + 5 }, (_, at) => openConnection(at)),
  leftTotal: 900,
};

test("the report lists connections up to its limit and counts all of them", () => {
  const report = drainReportOf(withdrawing({ sample: { observation: manyConnections } }), 10, -1, 0);
  expect(report).toMatchObject({
    left: manyConnections.left.slice(0, LEFT_LIMIT),
    leftTotal: 900,
    evidenceSource: "netlink",
  });
  expect(JSON.stringify(report)).not.toContain("untracked");
});

test("the report counts processes with the preload library and their connections, and omits both counts without that library", () => {
  const state = draining({}, { openAtDraining: 20 });
  expect(drainReportOf(state, 10, 3, 0).preload).toEqual({ processes: 3, missed: 0, connections: 20 });
  expect(drainReportOf(state, 10, 3, 1).preload).toEqual({
    processes: 3,
    missed: 1,
    connections: 20,
  });
  expect(drainReportOf(IDLE, 10, 0, 0).preload).toEqual({ processes: 0, missed: 0, connections: -1 });
  expect(JSON.stringify(drainReportOf(state, 10, -1, 0))).not.toContain("preload");
});

test("the report contains the number of connections at the start of the drain timeout", () => {
  const events = [hook(100, 1), ownHook(110, 2)];
  const { phase } = play({ settings: ONE_APP, events, pod: busyUntil(20_000) }).state;
  expect(phase).toMatchObject({ name: "done", result: { drainingFromMs: 5_110, openAtDraining: 1 } });
});

test("the report counts the connections that the manager does not track", () => {
  const observation = { ...manyConnections, untracked: 3 };
  expect(drainReportOf(withdrawing({ sample: { observation } }), 10, -1, 0)).toMatchObject({ untracked: 3 });
});

test("the report contains the sample at the end of the drain, not a later one", () => {
  const sample = { observation: QUIET };
  expect(drainReportOf(draining({ sample }), 10, -1, 0).leftTotal).toBe(0);
  const endedState = holding({ sample }, { result: { ...RESULT, observation: manyConnections } });
  expect(drainReportOf(endedState, 10, -1, 0).leftTotal).toBe(900);
});

test("the report of a simulated drain has its outcome, trigger, relay status and durations", () => {
  const events = [hook(100, 1), ownHook(110, 2), relayReported(2_110, "out", true)];
  const { state } = play({ settings: { ...ONE_APP, deregistrationDelayMs: 3_000 }, events });
  expect(drainReportOf(state, 60_000, -1, 0)).toMatchObject({
    ...{ phase: "done", outcome: "drained", trigger: "hook", relay: "withdrawn", withdrawnAfterMs: 2_000 },
    milliseconds: phaseDurations(5_000, 3_000, 0, 0),
  });
});
