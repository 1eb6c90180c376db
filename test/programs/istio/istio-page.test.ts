import { expect, test } from "vitest";
import { ISTIO_CASES, type IstioCase, type IstioResult } from "./istio-case.ts";
import { insertIstioTable, missingIstioCases } from "./istio-page.ts";

const PAGE = "before\n<!-- generated: Istio's sidecar -->\nstale\n<!-- end of Istio's sidecar -->\nafter\n";

const istioResult = (istioCase: IstioCase): IstioResult => ({
  kind: "istio",
  system: `${istioCase.form} ${istioCase.version} ${istioCase.statistics}`,
  ...istioCase,
  manager: "native",
  releasedSeconds: 7.16,
  afterTrafficSeconds: 2.06,
  overWaitSeconds: -0.01,
  stayedSeconds: 0,
  lagSeconds: 0,
  hookStatus: 200,
  hooksFailed: 0,
  answered: 900,
  failures: [],
  outcome: "drained",
  why: "",
  managerPeakKib: 1_000,
  calls: { answered: 199, failures: ["call: reset"], closeHeaders: 0, byProxy: 150, afterSignal: 40 },
  proxyAfterAppSeconds: 1.04,
  driverWarning: "",
});

const allResults = ISTIO_CASES.map(istioResult);

test("a row of the Istio page has the failed requests of both directions and the time of the proxy's stop signal", () => {
  const writtenPage = insertIstioTable(PAGE, allResults);
  expect(writtenPage).toContain(
    "| classic | 1.36 | Istio's default | 7.2 s | 0.00 s | 0 of 900 | 1 of 200 | 40 | 0 | 1.0 s after the app's exit |",
  );
  expect(writtenPage).not.toContain("stale");
  expect(writtenPage.startsWith("before\n")).toBe(true);
});

test("a missing result is reported with its proxy, version of Envoy and statistics", () => {
  expect(missingIstioCases(allResults)).toEqual([]);
  expect(missingIstioCases(allResults.slice(1))).toEqual(["Istio's native proxy with Envoy 1.40, statistics cut"]);
  expect(() => insertIstioTable(PAGE, allResults.slice(1))).toThrow("no result of Istio's native proxy");
});
