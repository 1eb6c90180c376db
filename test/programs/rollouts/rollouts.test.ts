import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frame, isWholeMessage } from "../harness/grpc-frame.ts";
import { overWaitMs } from "../harness/over-wait.ts";
import { createPace } from "./load/timing.ts";
import { createWorkBook } from "./load/work-book.ts";
import { loadPlan } from "./load-plan.ts";
import { BENCH_SCENES, type RolloutScene, sceneName, TEST_SCENES } from "./rollout-scenes.ts";
import { type NodeResult, PROTOCOLS, perProtocol, type RolloutsResult } from "./rollouts-request.ts";
import { verdictOf } from "./rollouts-verdict.ts";

describe("the pace of an open loop", () => {
  test("asks as often as it was told to, however late it is asked itself", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 50 }),
        (perSecond, pausesMs) => {
          const due = createPace(perSecond, 1_000);
          let nowMs = 1_000;
          let asked = 0;
          for (const pauseMs of pausesMs) {
            nowMs += pauseMs;
            asked += due(nowMs);
          }
          expect(asked).toBe(Math.floor(((nowMs - 1_000) * perSecond) / 1_000));
        },
      ),
    );
  });
});

describe("a message of gRPC", () => {
  test("is whole as it was made, and not with a byte more or less", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const message = frame(text);
        expect(isWholeMessage(message)).toBe(true);
        expect(isWholeMessage(message.subarray(0, -1))).toBe(false);
        expect(isWholeMessage(Uint8Array.from([...message, 0]))).toBe(false);
      }),
    );
  });

  test("is read from anywhere in a larger buffer", () => {
    const buffer = new Uint8Array([9, 9, 9, ...frame("hello")]);
    expect(isWholeMessage(buffer.subarray(3))).toBe(true);
  });

  test("that is compressed is none that was asked for", () => {
    const message = frame("hello");
    message[0] = 1;
    expect(isWholeMessage(message)).toBe(false);
  });
});

describe("the over-wait of a Pod", () => {
  const settings = { delayMs: 2_000, quietMs: 1_000, timeoutMs: 20_000 };
  const held = { deletedMs: 10_000, releasedMs: 16_000, withdrawnMs: undefined, lastWorkMs: undefined };

  test.for([
    { says: "the drain delay, when no one came", pod: held, ms: 4_000 },
    { says: "the withdrawal, when that came later", pod: { ...held, withdrawnMs: 13_000 }, ms: 3_000 },
    { says: "the quiet period behind the last work", pod: { ...held, lastWorkMs: 14_900 }, ms: 100 },
    { says: "the quiet period, and is below 0 before its end", pod: { ...held, lastWorkMs: 15_500 }, ms: -500 },
  ])("counts from $says", ({ pod, ms }) => {
    expect(overWaitMs(pod, settings)).toBe(ms);
  });
});

describe("the counts of a node", () => {
  test("leave out answers before and after the measured time, and no failure", () => {
    let nowMs = 0;
    const book = createWorkBook(() => nowMs);
    const failure = { protocol: "grpc", kind: "reset", pod: "a", connectionAgeMs: 1, requestsBefore: 2 } as const;
    book.answered("http1", "a");
    book.failed(failure);
    book.measure();
    for (nowMs of [100, 900, 1_500, 2_100]) book.answered("http1", "a");
    book.close();
    nowMs = 2_500;
    book.answered("http1", "b");
    book.failed(failure);
    expect(book.result()).toMatchObject({
      answered: { http1: 4, http2: 0, grpc: 0 },
      failed: { http1: 0, http2: 0, grpc: 2 },
      measuredMs: 2_100,
      perSecond: [2, 1],
      lastWorkMs: { a: 2_100, b: 2_500 },
    });
  });
});

describe("the scenes", () => {
  test("of the bench roll each protocol 20 times by itself, at more than the rate that must be answered", () => {
    for (const scene of BENCH_SCENES) {
      expect(scene.rollouts).toBe(20);
      const rates = PROTOCOLS.map((protocol) => loadPlan(scene).rates[protocol]);
      expect(rates.filter((rate) => rate > 500)).toHaveLength(1);
    }
    expect(new Set(BENCH_SCENES.map(sceneName)).size).toBe(BENCH_SCENES.length);
  });

  test("of a test run make 20 rollouts that must lose nothing", () => {
    const promised = TEST_SCENES.filter((scene) => scene.promised);
    expect(promised.reduce((sum, { rollouts }) => sum + rollouts, 0)).toBe(20);
  });

  test("promise endless clients nothing where no driver sends them away", () => {
    for (const { clients, driver, promised } of [...BENCH_SCENES, ...TEST_SCENES])
      expect(promised).toBe(clients === "short-lived" || driver !== "none");
  });
});

describe("the verdict", () => {
  const [scene] = TEST_SCENES;
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
  const good: RolloutsResult = {
    manager: "native",
    nodes: [node, node],
    drains: Array.from({ length: 16 }, () => drain),
    machineLoad: 1,
    processors: 2,
  };
  const judged = (result: RolloutsResult, more: Partial<RolloutScene> = {}) => {
    if (scene === undefined) throw new Error("there is no scene");
    return verdictOf({ ...scene, ...more }, result);
  };

  test("finds nothing in a good run, and tells its rate and its slowest second", () => {
    const { failures, line } = judged(good);
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
      says: "one failed request",
      nodes: [node, { ...node, failed: { ...node.failed, grpc: 1 } }],
      finds: "1 of 12000",
    },
    { says: "a slow run", nodes: [node, { ...node, measuredMs: 30_000 }], finds: "400 requests a second" },
  ])("finds $says", ({ nodes, finds }) => {
    expect(judged({ ...good, nodes }).failures.join()).toContain(finds);
  });

  test.for([
    { says: "a drain that ended at its deadline", change: { outcome: "timeout" }, finds: 'ended as "timeout"' },
    { says: "Pods that no one came to", change: { served: false }, finds: "before any client came" },
    { says: "a Pod without the idle connection", change: { leftTotal: 0 }, finds: "without the idle connection" },
    { says: "drains that wait for the idle connection", change: { overWaitMs: 900 }, finds: "900 ms more" },
  ])("finds $says", ({ change, finds }) => {
    const drains = good.drains.map((one) => ({ ...one, ...change }));
    expect(judged({ ...good, drains }).failures.join()).toContain(finds);
  });

  test("counts what fails where nothing is promised, and complains of nothing but the rate", () => {
    const failed = { ...node, failed: { ...node.failed, http1: 7 } };
    const drains = good.drains.map((one) => ({ ...one, outcome: "timeout", leftTotal: 0 }));
    const { failures, line } = judged({ ...good, nodes: [failed, failed], drains }, { promised: false });
    expect(failures).toEqual([]);
    expect(line.failed.http1).toBe(14);
  });
});
