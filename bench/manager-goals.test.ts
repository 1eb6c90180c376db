import { expect, test } from "vitest";
import type { Figures } from "./manager-figures.ts";
import { goalsOf } from "./manager-goals.ts";
import { readOptions } from "./manager-options.ts";

const memory = { rssKiB: 600, pssKiB: 600, anonymousKiB: 90 };
const drains = [{ connections: 5_000, seconds: 60, shareOfCore: 0.019 }];
const NATIVE: Figures = {
  build: "native",
  bytes: 600 * 1024,
  strippedBytes: 600 * 1024,
  threads: 1,
  idle: memory,
  idleSwitches: 0,
  startMs: 5,
  manager: { held: memory, called: memory, drains },
};
const NODE: Figures = { ...NATIVE, build: "node", idle: { ...memory, rssKiB: 65_000 }, threads: 7 };

test("a run that keeps to every goal misses none", () => {
  expect(goalsOf([NATIVE, NODE]).filter(({ met }) => !met)).toEqual([]);
});

test.for([
  { says: "the size", native: { strippedBytes: 1_024 * 1_024 + 1 }, missed: ["binary, stripped: at most 1 MiB"] },
  {
    says: "the memory",
    native: { idle: { ...memory, rssKiB: 769 } },
    missed: ["resident memory, idle: at most 768 KiB"],
  },
  {
    says: "the memory of its own",
    native: { idle: { ...memory, anonymousKiB: 161 } },
    missed: ["memory of its own, idle: at most 160 KiB"],
  },
  { says: "a second thread", native: { threads: 2 }, missed: ["1 thread"] },
  { says: "a wake-up", native: { idleSwitches: 1 }, missed: ["no wake-up while idle"] },
  { says: "the start", native: { startMs: 5.1 }, missed: ["start to listen: at most 5 ms"] },
  {
    says: "the drain",
    native: {
      manager: { held: memory, called: memory, drains: [{ connections: 5_000, seconds: 60, shareOfCore: 0.02 }] },
    },
    missed: ["drain with 5000 connections: below 2 % of a core"],
  },
  {
    says: "a drain that was not measured",
    native: { manager: { held: memory, called: memory, drains: [] } },
    missed: ["drain with 5000 connections: below 2 % of a core"],
  },
])("$says misses its own goal", ({ native, missed }) => {
  const goals = goalsOf([{ ...NATIVE, ...native }, NODE]);
  expect(goals.filter(({ met }) => !met).map(({ goal }) => goal)).toEqual(missed);
});

test("memory is measured against Node's of the same run too", () => {
  const slim = { ...NODE, idle: { ...memory, rssKiB: 600 * 80 - 1 } };
  const missed = goalsOf([NATIVE, slim]).filter(({ met }) => !met);
  expect(missed.map(({ goal }) => goal)).toEqual(["resident memory, idle: at most 1/80 of Node's"]);
});

test("a word that is not known is refused rather than passed over", () => {
  expect(readOptions(["--quik"])).toBeUndefined();
  expect(readOptions(["--quick", "--json"])).toMatchObject({ quick: true, json: true, drainSeconds: 15 });
});
