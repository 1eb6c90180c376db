import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeFrame, isCompleteFrame } from "../harness/grpc-frame.ts";
import { overWaitMs } from "../harness/over-wait.ts";
import { createNodeCounter } from "./load/node-counter.ts";
import { createRequestPace } from "./load/timing.ts";
import { planLoad } from "./load-plan.ts";
import { BENCH_SCENARIOS, type RolloutScenario, scenarioName, TEST_SCENARIOS } from "./rollout-scenarios.ts";
import { checkRollouts } from "./rollouts-checks.ts";
import { type NodeResult, PROTOCOLS, perProtocol, type RolloutsResult } from "./rollouts-request.ts";

describe("the pace of a load generator", () => {
  test("sends requests at the set rate even if its timer is late", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 50 }),
        (perSecond, pausesMs) => {
          const countDue = createRequestPace(perSecond, 1_000);
          let nowMs = 1_000;
          let dueRequests = 0;
          for (const pauseMs of pausesMs) {
            nowMs += pauseMs;
            dueRequests += countDue(nowMs);
          }
          expect(dueRequests).toBe(Math.floor(((nowMs - 1_000) * perSecond) / 1_000));
        },
      ),
    );
  });
});

describe("a gRPC message", () => {
  test("is complete with exactly the bytes of its frame", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const message = encodeFrame(text);
        expect(isCompleteFrame(message)).toBe(true);
        expect(isCompleteFrame(message.subarray(0, -1))).toBe(false);
        expect(isCompleteFrame(Uint8Array.from([...message, 0]))).toBe(false);
      }),
    );
  });

  test("can start anywhere in a larger buffer", () => {
    const buffer = new Uint8Array([9, 9, 9, ...encodeFrame("hello")]);
    expect(isCompleteFrame(buffer.subarray(3))).toBe(true);
  });

  test("is refused if it is compressed", () => {
    const message = encodeFrame("hello");
    message[0] = 1;
    expect(isCompleteFrame(message)).toBe(false);
  });
});

describe("the over-wait of a drain", () => {
  const settings = { delayMs: 2_000, quietMs: 1_000, timeoutMs: 20_000 };
  const times = { deletedMs: 10_000, releasedMs: 16_000, withdrawnMs: undefined, lastWorkMs: undefined };

  test.for([
    { title: "the drain delay without clients", pod: times, ms: 4_000 },
    { title: "the withdrawal if it is later than the drain delay", pod: { ...times, withdrawnMs: 13_000 }, ms: 3_000 },
    { title: "the end of the quiet period after the last request", pod: { ...times, lastWorkMs: 14_900 }, ms: 100 },
    {
      title: "the end of the quiet period, and is negative if the drain ended earlier",
      pod: { ...times, lastWorkMs: 15_500 },
      ms: -500,
    },
  ])("starts at $title", ({ pod, ms }) => {
    expect(overWaitMs(pod, settings)).toBe(ms);
  });
});

describe("the counts of requests on a node", () => {
  test("exclude responses outside of the measured time, but include all failures", () => {
    let nowMs = 0;
    const counter = createNodeCounter(() => nowMs);
    const failure = { protocol: "grpc", kind: "reset", pod: "a", connectionAgeMs: 1, requestsBefore: 2 } as const;
    counter.countResponse("http1", "a");
    counter.countFailure(failure);
    counter.startMeasuring();
    for (nowMs of [100, 900, 1_500, 2_100]) counter.countResponse("http1", "a");
    counter.stopMeasuring();
    nowMs = 2_500;
    counter.countResponse("http1", "b");
    counter.countFailure(failure);
    expect(counter.result()).toMatchObject({
      answered: { http1: 4, http2: 0, grpc: 0 },
      failed: { http1: 0, http2: 0, grpc: 2 },
      measuredMs: 2_100,
      perSecond: [2, 1],
      lastWorkMs: { a: 2_100, b: 2_500 },
    });
  });
});

describe("the rollout scenarios", () => {
  test("of the benchmark have 20 rollouts for each protocol, at more than the required rate", () => {
    for (const scenario of BENCH_SCENARIOS) {
      expect(scenario.rollouts).toBe(20);
      const rates = PROTOCOLS.map((protocol) => planLoad(scenario).rates[protocol]);
      expect(rates.filter((rate) => rate > 500)).toHaveLength(1);
    }
    expect(new Set(BENCH_SCENARIOS.map(scenarioName)).size).toBe(BENCH_SCENARIOS.length);
  });

  test("of a test run have 20 rollouts that must not lose a request", () => {
    const promised = TEST_SCENARIOS.filter((scenario) => scenario.promised);
    expect(promised.reduce((sum, { rollouts }) => sum + rollouts, 0)).toBe(20);
  });

  test("allow failed requests of clients that never close their connections if the app does not have a driver", () => {
    for (const { clients, driver, promised } of [...BENCH_SCENARIOS, ...TEST_SCENARIOS])
      expect(promised).toBe(clients === "short-lived" || driver !== "none");
  });
});

describe("the checks of a rollout", () => {
  const [scenario] = TEST_SCENARIOS;
  const node: NodeResult = {
    answered: { http1: 2_000, http2: 2_000, grpc: 2_000 },
    failed: perProtocol(() => 0),
    failures: [],
    measuredMs: 20_000,
    perSecond: [300, 280, 310],
    longestStallMs: 20,
    lastWorkMs: {},
  };
  const drain = {
    outcome: "drained",
    why: "quiet",
    drainMs: 9_000,
    overWaitMs: 100,
    leftTotal: 2,
    served: true,
  };
  const correctResult: RolloutsResult = {
    manager: "native",
    nodes: [node, node],
    drains: Array.from({ length: 16 }, () => drain),
    machineLoad: 1,
    processors: 2,
  };
  const check = (result: RolloutsResult, overrides: Partial<RolloutScenario> = {}) => {
    if (scenario === undefined) throw new Error("there is no scenario");
    return checkRollouts({ ...scenario, ...overrides }, result);
  };

  test("pass a correct run, and its result has the rate and the slowest second", () => {
    const { failures, line } = check(correctResult);
    expect(failures).toEqual([]);
    expect(line).toMatchObject({
      rate: 600,
      slowestSecond: 560,
      drains: 16,
      outcomes: { drained: 16 },
      withinGoal: 16,
    });
  });

  test.for([
    {
      title: "one failed request",
      nodes: [node, { ...node, failed: { ...node.failed, grpc: 1 } }],
      failure: "1 of 12000",
    },
    { title: "a slow run", nodes: [node, { ...node, measuredMs: 30_000 }], failure: "400 requests a second" },
  ])("report $title", ({ nodes, failure }) => {
    expect(check({ ...correctResult, nodes }).failures.join()).toContain(failure);
  });

  test.for([
    { title: "a drain that ended at its deadline", change: { outcome: "timeout" }, failure: 'ended as "timeout"' },
    { title: "Pods without clients", change: { served: false }, failure: "before any client sent a request" },
    { title: "a Pod without the idle connection", change: { leftTotal: 0 }, failure: "without the idle connection" },
    { title: "drains that wait for the idle connection", change: { overWaitMs: 900 }, failure: "900 ms more" },
  ])("report $title", ({ change, failure }) => {
    const drains = correctResult.drains.map((drain) => ({ ...drain, ...change }));
    expect(check({ ...correctResult, drains }).failures.join()).toContain(failure);
  });

  test("count but allow failures in scenarios that may lose requests", () => {
    const failedNode = { ...node, failed: { ...node.failed, http1: 7 } };
    const drains = correctResult.drains.map((drain) => ({ ...drain, outcome: "timeout", leftTotal: 0 }));
    const { failures, line } = check(
      { ...correctResult, nodes: [failedNode, failedNode], drains },
      { promised: false },
    );
    expect(failures).toEqual([]);
    expect(line.failed.http1).toBe(14);
  });
});
