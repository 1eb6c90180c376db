import { expect, test } from "vitest";
import { readSlice } from "../src/kubernetes/rotation/read-slice.ts";
import { rotationOf } from "../src/kubernetes/rotation/rotation-of.ts";
import { type RelayFigures, spreadOf } from "./relay-figures.ts";
import { goalsOf } from "./relay-goals.ts";
import { readOptions } from "./relay-options.ts";
import { sliceText } from "./relay-slice-text.ts";
import { drainingPods, PODS, podAt, SLICES, sliceOf } from "./relay-world.ts";

const quick = { count: 2_000, p50: 2, p99: 250, max: 900 };
const round = { p50: 1, p99: 2, cpuShare: 0.1, ownCpuMs: 0.3 };
const steady = { here: [round], aside: [round] };
const GOOD: RelayFigures = {
  cores: 2,
  loadAverage: { before: 1, after: 2 },
  world: { endpoints: PODS, slices: SLICES, namespaces: 10, sliceBytes: 35_000 },
  streams: 6_000,
  openingSeconds: 20,
  memory: { idle: 1e8, open: 2e8, told: 2e8, left: 1.5e8 },
  cpu: {
    openShare: 0.02,
    thousandHeartbeatsShare: 0.1,
    perEventMs: 0.4,
    events: 1_000,
    perStreamMs: 1,
    perStreamBesideMs: 0,
  },
  relayHeap: 1e8,
  told: { beside: quick, alone: quick, burst: quick },
  burstSeconds: 1,
  admissions: { perSecond: 300, quiet: steady, opening: steady, events: steady },
  eventsPerSecond: 100,
  broken: 0,
  why: "",
};

function missed(figures: RelayFigures): string[] {
  return goalsOf(figures)
    .filter(({ met }) => !met)
    .map(({ goal }) => goal);
}

test("a run that keeps to every goal misses none", () => {
  expect(missed(GOOD)).toEqual([]);
});

test("each goal is missed by its own figure", () => {
  const slow = { ...quick, p99: 250.1 };
  const twice = {
    ...steady,
    here: [
      { ...round, p99: 9 },
      { ...round, p99: 4 },
    ],
  };
  const { told, admissions } = GOOD;
  expect(missed({ ...GOOD, streams: 6_001 })).toEqual(["every Pod is told that it is out"]);
  expect(missed({ ...GOOD, told: { ...told, beside: slow } })).toEqual([expect.stringContaining("beside admissions")]);
  expect(missed({ ...GOOD, told: { ...told, alone: slow } })).toEqual([expect.stringContaining("alone")]);
  const both = (doing: string) => [
    `admission p99 while ${doing}: below 2 times that in quiet`,
    `admission p99 while ${doing}: below 2 times that of another process at the same time`,
  ];
  expect(missed({ ...GOOD, admissions: { ...admissions, events: twice } })).toEqual(both("slices change"));
  expect(missed({ ...GOOD, admissions: { ...admissions, opening: twice } })).toEqual(both("streams begin"));
  const slowMachine = { here: twice.here, aside: twice.here };
  expect(missed({ ...GOOD, admissions: { ...admissions, opening: slowMachine } })).toEqual([
    both("streams begin")[0] ?? "",
  ]);
});

test("what the machine does to a webhook without drains stands beside each figure", () => {
  const slow = { here: [{ ...round, p99: 3 }], aside: [{ ...round, p99: 2.5 }] };
  const goals = goalsOf({ ...GOOD, admissions: { ...GOOD.admissions, events: slow } });
  expect(goals.find(({ goal }) => goal.includes("slices change"))?.found).toMatch(/^1\.50; .*: 1\.25$/);
});

test("a round in which the machine was busy spoils nothing", () => {
  const busy = {
    ...steady,
    here: [
      { ...round, p99: 900 },
      { ...round, p99: 3.9 },
    ],
  };
  expect(missed({ ...GOOD, admissions: { ...GOOD.admissions, events: busy, quiet: busy } })).toEqual([]);
});

test("what was not measured counts as missed", () => {
  expect(missed({ ...GOOD, told: { beside: spreadOf([]), alone: quick, burst: quick } })).toHaveLength(2);
  expect(missed({ ...GOOD, admissions: { ...GOOD.admissions, quiet: { here: [], aside: [] } } })).toHaveLength(2);
});

test("the Pods that drain are told apart, and each is in the slice it is withdrawn from", () => {
  const pods = drainingPods(5_000);
  expect(new Set(pods.map((pod) => podAt(pod).uid)).size).toBe(5_000);
  for (const pod of [pods[0] ?? 0, pods[2_500] ?? 0, pods.at(-1) ?? 0]) {
    const { pod: name, uid, addresses } = podAt(pod);
    const stateWith = (ending: ReadonlySet<number>) => {
      const slice = readSlice(JSON.parse(sliceText(sliceOf(pod), 1, ending)));
      return rotationOf(slice === undefined ? [] : [slice], { name, uid, addresses }).state;
    };
    expect([stateWith(new Set()), stateWith(new Set([pod])), stateWith(new Set([pod + 1]))]).toEqual([
      "in",
      "out",
      "in",
    ]);
  }
});

test("a word or a number that cannot be meant is refused", () => {
  expect(readOptions([])).toEqual({ json: false, streams: 5_000 });
  expect(readOptions(["--streams=500", "--json"])).toEqual({ json: true, streams: 500 });
  for (const word of ["--stream=5", "--streams=99", "--streams=15001", "--streams=1e3", "x"])
    expect(readOptions([word])).toBeUndefined();
});
