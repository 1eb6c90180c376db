import { expect, test } from "vitest";
import { checkEnvoy } from "./envoy-checks.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { dueMs, type Scenario } from "./envoy-scenario.ts";
import { SCENARIOS } from "./envoy-scenarios.ts";

const [first] = SCENARIOS;
const scenario = (ending: Scenario["ending"]): Scenario => {
  if (first === undefined) throw new Error("no scenarios");
  return { ...first, key: "some", ending };
};

const CORRECT_RESULT: EnvoyResult = {
  kind: "envoy",
  system: "some, Envoy 1.40, native",
  scenario: "some",
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

test("a correct result of an Envoy case passes every check", () => {
  expect(checkEnvoy(scenario("quiet"), CORRECT_RESULT)).toEqual([]);
});

test.for([
  { title: "a lost request", overrides: { failures: ["reset"] }, failure: "1 of 11 requests failed: reset" },
  { title: "a hook without a response", overrides: { hookStatus: -1 }, failure: "response has status -1" },
  { title: "a hook that the kubelet counts as failed", overrides: { hooksFailed: 1 }, failure: "1 hooks failed" },
  { title: "a drain that ends at the deadline", overrides: { outcome: "timeout" }, failure: "ended as timeout" },
  { title: "a drain that ends more than 0.25 s late", overrides: { overWaitSeconds: 0.26 }, failure: "0.26 s late" },
  { title: "a drain that ends early", overrides: { overWaitSeconds: -0.5 }, failure: "0.5 s early" },
  { title: "a load without responses", overrides: { answered: 0 }, failure: "no request was answered" },
])("$title fails its check", ({ overrides, failure }) => {
  const failures = checkEnvoy(scenario("quiet"), { ...CORRECT_RESULT, ...overrides });
  expect(failures).toHaveLength(1);
  expect(failures[0]).toContain(failure);
});

test("a scheduling delay of the host is added to the tolerance for a late end of the drain", () => {
  expect(checkEnvoy(scenario("quiet"), { ...CORRECT_RESULT, overWaitSeconds: 0.6, lagSeconds: 0.4 })).toEqual([]);
});

test("clients connected after the drain delay fail a check only if the scenario requires them to disconnect", () => {
  const connectedResult = { ...CORRECT_RESULT, stayedSeconds: 4 };
  expect(checkEnvoy(scenario("quiet"), connectedResult)).toEqual([]);
  expect(checkEnvoy({ ...scenario("quiet"), closesOnDrain: true }, connectedResult)).toHaveLength(1);
});

test("the scenario of the deadline requires exactly one session that is closed by force", () => {
  const cut = { ...CORRECT_RESULT, outcome: "timeout", cut: 1 };
  expect(checkEnvoy(scenario("deadline"), cut)).toEqual([]);
  expect(checkEnvoy(scenario("deadline"), { ...cut, cut: 0 })).toHaveLength(1);
});

test.for([
  ["delay", 5_000],
  ["idle", 7_000],
  ["quiet", 11_000],
  ["deadline", 65_000],
] as const)("the expected end of a drain with the end condition %s is %i ms after the trigger", ([ends, ms]) => {
  expect(dueMs(scenario(ends), { triggeredMs: 1_000, lastTrafficMs: 10_000 })).toBe(1_000 + ms);
});

test("the keys of the Envoy scenarios are unique", () => {
  const keys = SCENARIOS.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
