import { expect, test } from "vitest";
import { checkGoals } from "./manager-goals.ts";
import { readOptions } from "./manager-options.ts";
import type { BuildResults } from "./manager-results.ts";

const memory = { rssKiB: 600, pssKiB: 600, anonymousKiB: 90 };
const drains = [{ connections: 5_000, seconds: 60, shareOfCore: 0.019 }];
const NATIVE: BuildResults = {
  build: "native",
  bytes: 600 * 1024,
  strippedBytes: 600 * 1024,
  threads: 1,
  idle: memory,
  idleSwitches: 0,
  startMs: 5,
  manager: { held: memory, called: memory, drains },
};
const NODE: BuildResults = { ...NATIVE, build: "node", idle: { ...memory, rssKiB: 65_000 }, threads: 7 };

test("a run of the manager benchmark within all limits meets every goal", () => {
  expect(checkGoals([NATIVE, NODE]).filter(({ met }) => !met)).toEqual([]);
});

test.for([
  {
    title: "a binary above 1 MiB",
    native: { strippedBytes: 1_024 * 1_024 + 1 },
    missed: ["binary, stripped: at most 1 MiB"],
  },
  {
    title: "resident memory above 768 KiB",
    native: { idle: { ...memory, rssKiB: 769 } },
    missed: ["resident memory, idle: at most 768 KiB"],
  },
  {
    title: "anonymous memory above 152 KiB",
    native: { idle: { ...memory, anonymousKiB: 153 } },
    missed: ["anonymous memory, idle: at most 152 KiB"],
  },
  { title: "a second thread", native: { threads: 2 }, missed: ["1 thread"] },
  { title: "a context switch while idle", native: { idleSwitches: 1 }, missed: ["no context switch while idle"] },
  { title: "a start above 5 ms", native: { startMs: 5.1 }, missed: ["start until listening: at most 5 ms"] },
  {
    title: "a drain that takes 2 % of a core",
    native: {
      manager: { held: memory, called: memory, drains: [{ connections: 5_000, seconds: 60, shareOfCore: 0.02 }] },
    },
    missed: ["drain with 5000 connections: below 2 % of a core"],
  },
  {
    title: "a drain that was not measured",
    native: { manager: { held: memory, called: memory, drains: [] } },
    missed: ["drain with 5000 connections: below 2 % of a core"],
  },
])("$title misses only its own goal", ({ native, missed }) => {
  const goals = checkGoals([{ ...NATIVE, ...native }, NODE]);
  expect(goals.filter(({ met }) => !met).map(({ title }) => title)).toEqual(missed);
});

test("memory above 1/80 of the Node build's memory in the same run misses its goal", () => {
  const smallNodeBuild = { ...NODE, idle: { ...memory, rssKiB: 600 * 80 - 1 } };
  const missed = checkGoals([NATIVE, smallNodeBuild]).filter(({ met }) => !met);
  expect(missed.map(({ title }) => title)).toEqual(["resident memory, idle: at most 1/80 of Node's"]);
});

test("the manager benchmark refuses an unknown argument", () => {
  expect(readOptions(["--quik"])).toBeUndefined();
  expect(readOptions(["--quick", "--json"])).toMatchObject({ quick: true, json: true, drainSeconds: 15 });
});
