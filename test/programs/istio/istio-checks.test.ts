import { expect, test } from "vitest";
import type { IstioResult } from "./istio-case.ts";
import { checkIstio } from "./istio-checks.ts";

const CALLS = { answered: 200, failures: [] as string[], closeHeaders: 0, byProxy: 150, afterSignal: 40 };

const CORRECT_RESULT: IstioResult = {
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
  expect(checkIstio(CORRECT_RESULT)).toEqual([]);
});

test.for([
  { title: "a lost request", overrides: { failures: ["reset"] }, failure: "1 of 11 requests failed" },
  {
    title: "a failed call of the app",
    overrides: { calls: { ...CALLS, failures: ["call: reset"] } },
    failure: "call: reset",
  },
  {
    title: "a call whose response has Connection: close",
    overrides: { calls: { ...CALLS, closeHeaders: 2 } },
    failure: "2 calls",
  },
  { title: "a call that bypasses the proxy", overrides: { calls: { ...CALLS, byProxy: 0 } }, failure: "did not pass" },
  { title: "a proxy that exits before the app", overrides: { proxyAfterAppSeconds: -0.5 }, failure: "0.5 s before" },
  {
    title: "a classic proxy that exits with the app",
    overrides: { form: "classic" as const },
    failure: "before the app",
  },
  {
    title: "an app without a proxy in its last seconds",
    overrides: { calls: { ...CALLS, afterSignal: 0 } },
    failure: "0 calls after",
  },
  { title: "a driver that cannot count", overrides: { driverWarning: "cannot count" }, failure: "cannot count" },
  {
    title: "a driver that counts although the statistics are missing",
    overrides: { statistics: "cut" as const },
    failure: "statistics are cut",
  },
  { title: "a drain whose end was not measured", overrides: { overWaitSeconds: Number.NaN }, failure: "NaN s late" },
])("$title fails its check", ({ overrides, failure }) => {
  const failures = checkIstio({ ...CORRECT_RESULT, ...overrides });
  expect(failures).toHaveLength(1);
  expect(failures[0]).toContain(failure);
});
