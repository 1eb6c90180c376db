/** What Pods tell of their own end, where they may be read. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ApiResponse, SendRequest } from "../../../src/api-server/api-request.ts";
import { createPodReader, readPodAnswer } from "../../../src/relay/slices/pod-reader.ts";
import type { PodFacts } from "../../../src/relay/slices/pod-watch.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { turnedClock } from "../turned-clock.ts";
import { hears, type WatchedCluster, watchedCluster } from "./watched-cluster.ts";

const answerOf = (metadata: object, status = 200): ApiResponse => ({ status, text: JSON.stringify({ metadata }) });
const ENDING = { uid: "uid-1", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };

describe("an answer about a Pod", () => {
  test.for([
    {
      says: "that is being deleted gives its real grace period",
      answer: answerOf(ENDING),
      reading: { kind: "ending", facts: { terminating: true, graceSeconds: 30 } },
    },
    {
      says: "whose grace period is nonsense says only that it ends",
      answer: answerOf({ ...ENDING, deletionGracePeriodSeconds: -5 }),
      reading: { kind: "ending", facts: { terminating: true, graceSeconds: undefined } },
    },
    { says: "that lives on says nothing", answer: answerOf({ uid: "uid-1" }), reading: { kind: "living" } },
    {
      says: "of the same name and another uid is about someone else",
      answer: answerOf({ ...ENDING, uid: "uid-2" }),
      reading: { kind: "gone" },
    },
    { says: "that is not there is the end of asking", answer: answerOf({}, 404), reading: { kind: "gone" } },
    { says: "that is refused is no news", answer: answerOf(ENDING, 403), reading: { kind: "unreadable" } },
    { says: "that is not JSON is no news", answer: { status: 200, text: "<html>" }, reading: { kind: "unreadable" } },
    { says: "that is a list is no news", answer: { status: 200, text: "[]" }, reading: { kind: "unreadable" } },
  ])("$says", ({ answer, reading }) => {
    expect(readPodAnswer(answer, "uid-1")).toEqual(reading);
  });
});

const POD = { namespace: "shop", pod: "web-1", uid: "uid-1" };

describe("a Pod", () => {
  test("is asked for again every few seconds until it is being deleted, and then no more", async () => {
    const clock = turnedClock(100);
    let asked = 0;
    let metadata: object = { uid: "uid-1" };
    const reader = createPodReader(async () => {
      asked += 1;
      return answerOf(metadata);
    }, clock);
    const told: PodFacts[] = [];
    reader.read(POD, (facts) => told.push(facts));
    await clock.turn(2_900);
    expect([asked, told]).toEqual([1, []]);
    await clock.turn(4_000);
    expect(asked).toBe(3);
    metadata = ENDING;
    await clock.turn(10_000);
    expect([asked, told]).toEqual([4, [{ terminating: true, graceSeconds: 30 }]]);
  });

  test("that no one waits for any more is not asked for", async () => {
    const clock = turnedClock(100);
    let asked = 0;
    const reader = createPodReader(async () => {
      asked += 1;
      return answerOf({ uid: "uid-1" });
    }, clock);
    const leave = reader.read(POD, () => undefined);
    await clock.turn(100);
    leave();
    await clock.turn(60_000);
    expect(asked).toBe(1);
  });

  test("whose drain left while it was asked for is not told of, and not asked for again", async () => {
    const clock = turnedClock(100);
    let answer: (metadata: object) => void = () => undefined;
    let asked = 0;
    const reader = createPodReader(() => {
      asked += 1;
      return new Promise((resolve) => {
        answer = (metadata) => resolve(answerOf(metadata));
      });
    }, clock);
    const told: PodFacts[] = [];
    for (const metadata of [ENDING, { uid: "uid-1" }]) {
      const leave = reader.read(POD, (facts) => told.push(facts));
      leave();
      answer(metadata);
      await clock.turn(20_000);
    }
    expect([asked, told]).toEqual([2, []]);
  });

  test("that may not be read is asked for seldom", async () => {
    const clock = turnedClock(100);
    let asked = 0;
    const reader = createPodReader(async () => {
      asked += 1;
      return answerOf({}, 403);
    }, clock);
    reader.read(POD, () => undefined);
    await clock.turn(60_000);
    expect(asked).toBe(4);
  });
});

test("5 000 Pods are asked for a few at a time, each once, within half a minute", async () => {
  const clock = turnedClock(100);
  let underWay = 0;
  let most = 0;
  const asked = new Map<string, number>();
  const ask: SendRequest = async ({ path }) => {
    asked.set(path, (asked.get(path) ?? 0) + 1);
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    return answerOf({ ...ENDING, uid: /pods\/web-([0-9]+)/.exec(path)?.[1] });
  };
  const reader = createPodReader(ask, clock);
  let told = 0;
  for (let pod = 0; pod < 5_000; pod += 1) {
    reader.read({ namespace: "shop", pod: `web-${pod}`, uid: String(pod) }, () => {
      told += 1;
    });
  }
  await clock.turn(30_000);
  expect([told, asked.size, Math.max(...asked.values())]).toEqual([5_000, 5_000, 1]);
  expect(most).toBeLessThanOrEqual(8);
});

test("a namespace with thousands of Pods to ask for does not make another one wait", async () => {
  const clock = turnedClock(100);
  const asked: string[] = [];
  const reader = createPodReader(async ({ path }) => {
    asked.push(path.split("/")[4] ?? "");
    return answerOf({ uid: "uid-1" });
  }, clock);
  for (let pod = 0; pod < 3_000; pod += 1)
    reader.read({ namespace: "flood", pod: `web-${pod}`, uid: "uid-1" }, () => undefined);
  await clock.turn(1_000);
  const before = asked.length;
  for (const pod of ["a", "b"]) reader.read({ namespace: "shop", pod, uid: "uid-1" }, () => undefined);
  await clock.turn(500);
  expect(asked.slice(before, before + 20).filter((namespace) => namespace === "shop")).toHaveLength(2);
});

describe("in a cluster whose Pods may be read", () => {
  let cluster: WatchedCluster;
  beforeEach(async () => {
    cluster = await watchedCluster({ readsPods: true });
  });
  afterEach(async () => {
    await cluster.close();
  });
  const pod = (metadata: object) => ({ metadata: { name: "web-1", namespace: "shop", uid: "uid-1", ...metadata } });

  test("a drain is told the grace period of its Pod's deletion", async () => {
    cluster.api.put("/api/v1/namespaces/shop/pods", pod(ENDING));
    await hears(cluster.ask(), { state: "out", terminating: true, graceSeconds: 30 });
  });

  test("nothing is told of a Pod that only has the same name", async () => {
    cluster.api.put("/api/v1/namespaces/shop/pods", pod({ ...ENDING, uid: "uid-2" }));
    const drainer = cluster.ask();
    await eventually(() => expect(cluster.api.requests.join()).toContain("/pods/web-1"));
    await hears(drainer, { state: "out" });
    await pause(100, "the answer about the other Pod comes, and is not told");
    expect(drainer.lines.at(-1)).toEqual({
      state: "out",
      terminating: false,
      reason: "no Service offers the Pod",
    });
  });
});

test("without the right to read Pods no one asks for one", async () => {
  const cluster = await watchedCluster();
  await hears(cluster.ask(), { state: "out" });
  expect(cluster.api.requests.filter((request) => request.includes("/pods"))).toEqual([]);
  await cluster.close();
});
