import { expect, test } from "vitest";
import { endpointStateOf } from "../src/kubernetes/endpoints/endpoint-state-of.ts";
import { readSlice } from "../src/kubernetes/endpoints/read-slice.ts";
import { drainingPods, PODS, requestOf, SLICES, sliceOf } from "./relay-cluster.ts";
import { checkGoals } from "./relay-goals.ts";
import { readOptions } from "./relay-options.ts";
import { type RelayResults, spreadOf } from "./relay-results.ts";
import { sliceText } from "./relay-slice-text.ts";

const fastSpread = { count: 2_000, p50: 2, p99: 250, max: 900 };
const round = { p50: 1, p99: 2, cpuShare: 0.1, mainThreadMs: 0.3 };
const steadyRounds = { draining: [round], control: [round] };
const RESULTS_WITHIN_GOALS: RelayResults = {
  cores: 2,
  loadAverage: { before: 1, after: 2 },
  cluster: { endpoints: PODS, slices: SLICES, namespaces: 10, sliceBytes: 35_000 },
  streams: 6_000,
  openingSeconds: 20,
  memory: { idle: 1e8, open: 2e8, withdrawn: 2e8, closed: 1.5e8 },
  cpu: {
    openShare: 0.02,
    thousandHeartbeatsShare: 0.1,
    perEventMs: 0.4,
    events: 1_000,
    perStreamMs: 1,
    perStreamMainMs: 0,
  },
  relayHeap: 1e8,
  withdrawalMs: { beside: fastSpread, alone: fastSpread, burst: fastSpread },
  burstSeconds: 1,
  admissions: { perSecond: 300, quiet: steadyRounds, opening: steadyRounds, events: steadyRounds },
  eventsPerSecond: 100,
  broken: 0,
  brokenReason: "",
};

function missedGoals(results: RelayResults): string[] {
  return checkGoals(results)
    .filter(({ met }) => !met)
    .map(({ title }) => title);
}

test("a run of the relay benchmark within all limits meets every goal", () => {
  expect(missedGoals(RESULTS_WITHIN_GOALS)).toEqual([]);
});

test("each result above its limit misses only its own goal", () => {
  const slow = { ...fastSpread, p99: 250.1 };
  const doubledRounds = {
    ...steadyRounds,
    draining: [
      { ...round, p99: 9 },
      { ...round, p99: 4 },
    ],
  };
  const { withdrawalMs, admissions } = RESULTS_WITHIN_GOALS;
  expect(missedGoals({ ...RESULTS_WITHIN_GOALS, streams: 6_001 })).toEqual(["every Pod is notified of its withdrawal"]);
  expect(missedGoals({ ...RESULTS_WITHIN_GOALS, withdrawalMs: { ...withdrawalMs, beside: slow } })).toEqual([
    expect.stringContaining("during admissions"),
  ]);
  expect(missedGoals({ ...RESULTS_WITHIN_GOALS, withdrawalMs: { ...withdrawalMs, alone: slow } })).toEqual([
    expect.stringContaining("without admissions"),
  ]);
  const both = (load: string) => [
    `admission p99 while ${load}: below 2 times that without drains`,
    `admission p99 while ${load}: below 2 times that of the control at the same time`,
  ];
  expect(missedGoals({ ...RESULTS_WITHIN_GOALS, admissions: { ...admissions, events: doubledRounds } })).toEqual(
    both("slices change"),
  );
  expect(missedGoals({ ...RESULTS_WITHIN_GOALS, admissions: { ...admissions, opening: doubledRounds } })).toEqual(
    both("streams open"),
  );
  const slowHost = { draining: doubledRounds.draining, control: doubledRounds.draining };
  expect(missedGoals({ ...RESULTS_WITHIN_GOALS, admissions: { ...admissions, opening: slowHost } })).toEqual([
    both("streams open")[0] ?? "",
  ]);
});

test("each latency goal also reports the latency ratio of the control, which is the webhook without drains", () => {
  const slow = { draining: [{ ...round, p99: 3 }], control: [{ ...round, p99: 2.5 }] };
  const goals = checkGoals({
    ...RESULTS_WITHIN_GOALS,
    admissions: { ...RESULTS_WITHIN_GOALS.admissions, events: slow },
  });
  expect(goals.find(({ title }) => title.includes("slices change"))?.measured).toMatch(/^1\.50; .*: 1\.25$/);
});

test("a goal is met despite one slow round, because the best round counts", () => {
  const oneSlowRound = {
    ...steadyRounds,
    draining: [
      { ...round, p99: 900 },
      { ...round, p99: 3.9 },
    ],
  };
  expect(
    missedGoals({
      ...RESULTS_WITHIN_GOALS,
      admissions: { ...RESULTS_WITHIN_GOALS.admissions, events: oneSlowRound, quiet: oneSlowRound },
    }),
  ).toEqual([]);
});

test("a goal without a measurement is missed", () => {
  expect(
    missedGoals({
      ...RESULTS_WITHIN_GOALS,
      withdrawalMs: { beside: spreadOf([]), alone: fastSpread, burst: fastSpread },
    }),
  ).toHaveLength(2);
  expect(
    missedGoals({
      ...RESULTS_WITHIN_GOALS,
      admissions: { ...RESULTS_WITHIN_GOALS.admissions, quiet: { draining: [], control: [] } },
    }),
  ).toHaveLength(2);
});

test("the draining Pods of the relay benchmark have different UIDs, and each is withdrawn only when its own endpoint terminates", () => {
  const pods = drainingPods(5_000);
  expect(new Set(pods.map((pod) => requestOf(pod).uid)).size).toBe(5_000);
  for (const pod of [pods[0] ?? 0, pods[2_500] ?? 0, pods.at(-1) ?? 0]) {
    const { pod: name, uid, addresses } = requestOf(pod);
    const stateWith = (terminating: ReadonlySet<number>) => {
      const slice = readSlice(JSON.parse(sliceText(sliceOf(pod), 1, terminating)));
      return endpointStateOf(slice === undefined ? [] : [slice], { name, uid, addresses }).state;
    };
    expect([stateWith(new Set()), stateWith(new Set([pod])), stateWith(new Set([pod + 1]))]).toEqual([
      "in",
      "out",
      "in",
    ]);
  }
});

test("the relay benchmark refuses an unknown argument or a number out of range", () => {
  expect(readOptions([])).toEqual({ json: false, streams: 5_000 });
  expect(readOptions(["--streams=500", "--json"])).toEqual({ json: true, streams: 500 });
  for (const arg of ["--stream=5", "--streams=99", "--streams=15001", "--streams=1e3", "x"])
    expect(readOptions([arg])).toBeUndefined();
});
