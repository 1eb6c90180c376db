import { expect, test } from "vitest";
import type { IstioResult } from "./istio-case.ts";
import { istioShortfalls } from "./istio-verdict.ts";

const CALLS = { answered: 200, failures: [] as string[], sentAway: 0, byProxy: 150, afterSignal: 40 };

const GOOD: IstioResult = {
  kind: "istio",
  system: "some",
  version: "1.40",
  form: "native",
  statistics: "all",
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
  outcome: "drained",
  why: "",
  managerPeakKib: 1_000,
  calls: CALLS,
  proxyAfterAppSeconds: 0.01,
  driverNote: "",
};

test("an end that reached everything has no shortfall", () => {
  expect(istioShortfalls(GOOD)).toEqual([]);
});

test.for([
  { says: "a lost request", over: { failures: ["reset"] }, word: "1 of 11 failed" },
  {
    says: "a call of the app that failed",
    over: { calls: { ...CALLS, failures: ["call: reset"] } },
    word: "call: reset",
  },
  { says: "a call that was sent away", over: { calls: { ...CALLS, sentAway: 2 } }, word: "close 2 times" },
  { says: "a proxy that no one passes", over: { calls: { ...CALLS, byProxy: 0 } }, word: "did not pass" },
  { says: "a proxy that left first", over: { proxyAfterAppSeconds: -0.5 }, word: "0.5 s before" },
  { says: "a classic proxy that left at once", over: { form: "classic" as const }, word: "before the app" },
  {
    says: "an app without a proxy in its last seconds",
    over: { calls: { ...CALLS, afterSignal: 0 } },
    word: "0 calls after",
  },
  { says: "a driver that sees nothing", over: { driverNote: "cannot count" }, word: "cannot count" },
  { says: "a driver that counts without statistics", over: { statistics: "cut" as const }, word: "cannot see" },
  { says: "an end without a measured moment", over: { overWaitSeconds: Number.NaN }, word: "NaN s late" },
])("$says is a shortfall", ({ over, word }) => {
  const found = istioShortfalls({ ...GOOD, ...over });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(word);
});
