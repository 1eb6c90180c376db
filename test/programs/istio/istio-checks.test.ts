import { expect, test } from "vitest";
import type { IstioResult } from "./istio-case.ts";
import { checkIstio } from "./istio-checks.ts";

const CALLS = { answered: 200, failures: [] as string[], closeHeaders: 0, byProxy: 150, afterSignal: 40 };

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
  driverWarning: "",
};

test("a correct result of an Istio case passes every check", () => {
  expect(checkIstio(GOOD)).toEqual([]);
});

test.for([
  { title: "a lost request", over: { failures: ["reset"] }, failure: "1 of 11 requests failed" },
  {
    title: "a failed call of the app",
    over: { calls: { ...CALLS, failures: ["call: reset"] } },
    failure: "call: reset",
  },
  {
    title: "a call whose response has Connection: close",
    over: { calls: { ...CALLS, closeHeaders: 2 } },
    failure: "2 calls",
  },
  { title: "a call that bypasses the proxy", over: { calls: { ...CALLS, byProxy: 0 } }, failure: "did not pass" },
  { title: "a proxy that exits before the app", over: { proxyAfterAppSeconds: -0.5 }, failure: "0.5 s before" },
  { title: "a classic proxy that exits with the app", over: { form: "classic" as const }, failure: "before the app" },
  {
    title: "an app without a proxy in its last seconds",
    over: { calls: { ...CALLS, afterSignal: 0 } },
    failure: "0 calls after",
  },
  { title: "a driver that cannot count", over: { driverWarning: "cannot count" }, failure: "cannot count" },
  {
    title: "a driver that counts although the statistics are missing",
    over: { statistics: "cut" as const },
    failure: "statistics are cut",
  },
  { title: "a drain whose end was not measured", over: { overWaitSeconds: Number.NaN }, failure: "NaN s late" },
])("$title fails its check", ({ over, failure }) => {
  const found = checkIstio({ ...GOOD, ...over });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(failure);
});
