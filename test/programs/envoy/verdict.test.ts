import { expect, test } from "vitest";
import type { EnvoyResult } from "./envoy-result.ts";
import { dueMs, type Scene } from "./scene.ts";
import { SCENES } from "./scenes.ts";
import { shortfalls } from "./verdict.ts";

const [first] = SCENES;
const scene = (ends: Scene["ends"]): Scene => {
  if (first === undefined) throw new Error("no scenes");
  return { ...first, key: "some", ends };
};

const GOOD: EnvoyResult = {
  kind: "envoy",
  system: "some, Envoy 1.40, native",
  scene: "some",
  version: "1.40",
  manager: "native",
  releasedSeconds: 7.1,
  afterTrafficSeconds: 2.1,
  overWaitSeconds: 0.1,
  stayedSeconds: 0,
  lagSeconds: 0,
  hookStatus: 200,
  hooksFailed: 0,
  answered: 10,
  failures: [],
  refused: 0,
  cut: 0,
  outcome: "drained",
  why: "",
  managerPeakKib: 1_000,
};

test("a case that reached everything has no shortfall", () => {
  expect(shortfalls(scene("quiet"), GOOD)).toEqual([]);
});

test.for([
  { says: "a lost request", over: { failures: ["reset"] }, word: "1 of 11 failed: reset" },
  { says: "a hook without an answer", over: { hookStatus: -1 }, word: "answered -1" },
  { says: "a hook that the kubelet took for failed", over: { hooksFailed: 1 }, word: "1 hooks failed" },
  { says: "a drain to the deadline", over: { outcome: "timeout" }, word: "ended as timeout" },
  { says: "waiting in vain", over: { overWaitSeconds: 0.26 }, word: "0.26 s late" },
  { says: "an end before it is due", over: { overWaitSeconds: -0.5 }, word: "0.5 s early" },
  { says: "no client having asked", over: { answered: 0 }, word: "no one" },
])("$says is a shortfall", ({ over, word }) => {
  const found = shortfalls(scene("quiet"), { ...GOOD, ...over });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(word);
});

test("a machine that kept the one who measures from his turn is no shortfall", () => {
  expect(shortfalls(scene("quiet"), { ...GOOD, overWaitSeconds: 0.6, lagSeconds: 0.4 })).toEqual([]);
});

test("clients that were not told at once are a shortfall where all have to go", () => {
  const stayed = { ...GOOD, stayedSeconds: 4 };
  expect(shortfalls(scene("quiet"), stayed)).toEqual([]);
  expect(shortfalls({ ...scene("quiet"), sentAway: true }, stayed)).toHaveLength(1);
});

test("a session that stays has to be cut, and no one else", () => {
  const cut = { ...GOOD, outcome: "timeout", cut: 1 };
  expect(shortfalls(scene("deadline"), cut)).toEqual([]);
  expect(shortfalls(scene("deadline"), { ...cut, cut: 0 })).toHaveLength(1);
});

test.for([
  ["delay", 5_000],
  ["idle", 7_000],
  ["quiet", 11_000],
  ["deadline", 65_000],
] as const)("a drain that ends by %s is due %i ms after the trigger", ([ends, ms]) => {
  expect(dueMs(scene(ends), { triggeredMs: 1_000, lastMs: 10_000 })).toBe(1_000 + ms);
});

test("no two scenes have one key", () => {
  const keys = SCENES.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
