/** Reads the deletion of Pods where RBAC allows it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ApiResponse, SendRequest } from "../../../src/api-server/api-request.ts";
import { createPodReader, readPodDeletion } from "../../../src/relay/slices/pod-reader.ts";
import type { PodDeletion } from "../../../src/relay/slices/pod-watch.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { turnedClock } from "../manual-clock.ts";
import { receives, type WatchedCluster, watchedCluster } from "./watched-cluster.ts";

const answerOf = (metadata: object, status = 200): ApiResponse => ({ status, text: JSON.stringify({ metadata }) });
const ENDING = { uid: "uid-1", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };

describe("the response to a read of a Pod", () => {
  test.for([
    {
      title: "of a terminating Pod contains the real grace period",
      answer: answerOf(ENDING),
      reading: { kind: "ending", facts: { terminating: true, graceSeconds: 30 } },
    },
    {
      title: "with an invalid grace period proves only the deletion",
      answer: answerOf({ ...ENDING, deletionGracePeriodSeconds: -5 }),
      reading: { kind: "ending", facts: { terminating: true, graceSeconds: undefined } },
    },
    {
      title: "of a Pod that is not deleted counts as living",
      answer: answerOf({ uid: "uid-1" }),
      reading: { kind: "living" },
    },
    {
      title: "of a Pod of the same name with another uid counts as another Pod",
      answer: answerOf({ ...ENDING, uid: "uid-2" }),
      reading: { kind: "gone" },
    },
    { title: "with status 404 counts as gone", answer: answerOf({}, 404), reading: { kind: "gone" } },
    { title: "with status 403 counts as unreadable", answer: answerOf(ENDING, 403), reading: { kind: "unreadable" } },
    {
      title: "that is not JSON counts as unreadable",
      answer: { status: 200, text: "<html>" },
      reading: { kind: "unreadable" },
    },
    {
      title: "that is a list counts as unreadable",
      answer: { status: 200, text: "[]" },
      reading: { kind: "unreadable" },
    },
  ])("$title", ({ answer, reading }) => {
    expect(readPodDeletion(answer, "uid-1")).toEqual(reading);
  });
});

const POD = { namespace: "shop", pod: "web-1", uid: "uid-1" };

describe("the relay's reader of Pods", () => {
  test("reads a Pod every few seconds until it is being deleted", async () => {
    const clock = turnedClock(100);
    let asked = 0;
    let metadata: object = { uid: "uid-1" };
    const reader = createPodReader(async () => {
      asked += 1;
      return answerOf(metadata);
    }, clock);
    const received: PodDeletion[] = [];
    reader.read(POD, (facts) => received.push(facts));
    await clock.turn(2_900);
    expect([asked, received]).toEqual([1, []]);
    await clock.turn(4_000);
    expect(asked).toBe(3);
    metadata = ENDING;
    await clock.turn(10_000);
    expect([asked, received]).toEqual([4, [{ terminating: true, graceSeconds: 30 }]]);
  });

  test("skips a Pod without a waiting drain", async () => {
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

  test("ignores the response if the drain ended during the read", async () => {
    const clock = turnedClock(100);
    let answer: (metadata: object) => void = () => undefined;
    let asked = 0;
    const reader = createPodReader(() => {
      asked += 1;
      return new Promise((resolve) => {
        answer = (metadata) => resolve(answerOf(metadata));
      });
    }, clock);
    const received: PodDeletion[] = [];
    for (const metadata of [ENDING, { uid: "uid-1" }]) {
      const leave = reader.read(POD, (facts) => received.push(facts));
      leave();
      answer(metadata);
      await clock.turn(20_000);
    }
    expect([asked, received]).toEqual([2, []]);
  });

  test("retries a forbidden read seldom", async () => {
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

test("5 000 draining Pods are read a few at a time, each once, within half a minute", async () => {
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
  let received = 0;
  for (let pod = 0; pod < 5_000; pod += 1) {
    reader.read({ namespace: "shop", pod: `web-${pod}`, uid: String(pod) }, () => {
      received += 1;
    });
  }
  await clock.turn(30_000);
  expect([received, asked.size, Math.max(...asked.values())]).toEqual([5_000, 5_000, 1]);
  expect(most).toBeLessThanOrEqual(8);
});

test("the draining Pods of a large namespace do not delay the reads of another namespace", async () => {
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

describe("with permission to read Pods", () => {
  let cluster: WatchedCluster;
  beforeEach(async () => {
    cluster = await watchedCluster({ readsPods: true });
  });
  afterEach(async () => {
    await cluster.close();
  });
  const pod = (metadata: object) => ({ metadata: { name: "web-1", namespace: "shop", uid: "uid-1", ...metadata } });

  test("a drain receives the grace period of its Pod's deletion", async () => {
    cluster.api.put("/api/v1/namespaces/shop/pods", pod(ENDING));
    await receives(cluster.ask(), { state: "out", terminating: true, graceSeconds: 30 });
  });

  test("another Pod of the same name is ignored", async () => {
    cluster.api.put("/api/v1/namespaces/shop/pods", pod({ ...ENDING, uid: "uid-2" }));
    const drainer = cluster.ask();
    await eventually(() => expect(cluster.api.requests.join()).toContain("/pods/web-1"));
    await receives(drainer, { state: "out" });
    await pause(100, "the response for the other Pod arrives, and is dropped");
    expect(drainer.lines.at(-1)).toEqual({
      state: "out",
      terminating: false,
      reason: "no Service offers the Pod",
    });
  });
});

test("without permission to read Pods no Pod is read", async () => {
  const cluster = await watchedCluster();
  await receives(cluster.ask(), { state: "out" });
  expect(cluster.api.requests.filter((request) => request.includes("/pods"))).toEqual([]);
  await cluster.close();
});
