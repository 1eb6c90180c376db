import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEnvoyEvidence } from "../../src/manager/drivers/envoy/envoy-count.ts";
import type { EnvoyCount } from "../../src/manager/drivers/envoy/envoy-stats.ts";

const PORT = 8_080;
const PROBES = [{ port: PORT, periodMs: 1_000 }];
const COUNT_INTERVAL_MS = 200;

/** The count of an Envoy that has answered `requests` so far, each on a separate connection. */
function countAfter(requests: number, adminTotal: number, active = 0): EnvoyCount {
  return {
    isEnvoy: true,
    problem: "",
    isTemporary: false,
    active,
    connectionTotal: requests,
    completedTotal: requests,
    datagramTotal: 0,
    adminTotal,
    epoch: 0,
    probedPorts: [PORT],
  };
}

/** @returns whether each count, 200 ms apart, shows traffic. @param newRequests number of requests before each count but the first */
function detectTraffic(newRequests: readonly number[]): readonly boolean[] {
  const evidence = createEnvoyEvidence(PROBES);
  let requests = 0;
  return [0, ...newRequests].map((arrived, index) => {
    requests += arrived;
    return evidence.addCount(countAfter(requests, index + 1), index * COUNT_INTERVAL_MS).hadTraffic;
  });
}

describe("the totals in Envoy's statistics", () => {
  test("are evidence of traffic at the first count, which does not have a predecessor", () => {
    expect(detectTraffic([])).toEqual([true]);
  });

  test("include every datagram, because the kubelet's probes send none", () => {
    const evidence = createEnvoyEvidence(PROBES);
    const addDatagrams = (datagramTotal: number, index: number) =>
      evidence.addCount({ ...countAfter(0, index + 1), datagramTotal }, index * COUNT_INTERVAL_MS).hadTraffic;
    expect([5, 5, 6, 6].map(addDatagrams)).toEqual([true, false, true, false]);
  });

  test("exclude the kubelet's probes", () => {
    const probesPerCount = Array.from({ length: 50 }, (_, index) => (index % 5 === 3 ? 1 : 0));
    expect(detectTraffic(probesPerCount).slice(1)).not.toContain(true);
  });

  test("exclude a probe that directly follows the last traffic", () => {
    const busyRequests = [120, 118, 121, 119, 3];
    expect(detectTraffic([...busyRequests, 1, 0, 0, 0, 0, 1]).slice(1 + busyRequests.length)).not.toContain(true);
  });

  test("exclude probes that arrive while slow requests are active", () => {
    const evidence = createEnvoyEvidence(PROBES);
    const steps = [
      { requests: 10, active: 3, hadTraffic: true },
      { requests: 11, active: 2, hadTraffic: true },
      { requests: 12, active: 1, hadTraffic: true },
      { requests: 13, active: 0, hadTraffic: true },
      { requests: 14, active: 0, hadTraffic: false },
      { requests: 15, active: 0, hadTraffic: false },
      { requests: 17, active: 0, hadTraffic: true },
    ];
    for (const [index, { requests, active, hadTraffic }] of steps.entries())
      expect(evidence.addCount(countAfter(requests, index + 1, active), index * COUNT_INTERVAL_MS)).toMatchObject({
        hadTraffic,
      });
  });

  test("exclude at most the configured rate of probes plus two, for arbitrary traffic", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }), (newRequests) => {
        const hadTraffic = detectTraffic(newRequests).slice(1);
        const excludedRequests = newRequests.reduce(
          (sum, arrived, index) => (hadTraffic[index] ? sum : sum + arrived),
          0,
        );
        expect(excludedRequests).toBeLessThanOrEqual(2 + (newRequests.length * COUNT_INTERVAL_MS) / 1_000);
      }),
    );
  });

  test("are evidence of traffic when a total decreases", () => {
    const evidence = createEnvoyEvidence(PROBES);
    evidence.addCount(countAfter(10, 1), 0);
    expect(evidence.addCount(countAfter(4, 2), COUNT_INTERVAL_MS)).toEqual({ restarted: false, hadTraffic: true });
  });
});
