/** Tests the reader of Pod deletions, with and without permission to read Pods. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ApiResponse, SendRequest } from "../../../src/api-server/api-request.ts";
import { createPodReader, readPodDeletion } from "../../../src/relay/slices/pod-reader.ts";
import type { PodDeletion } from "../../../src/relay/slices/pod-watch.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { createManualClock } from "../manual-clock.ts";
import { createWatchedCluster, type WatchedCluster, waitForStatus } from "./watched-cluster.ts";

const createResponse = (metadata: object, status = 200): ApiResponse => ({
  status,
  text: JSON.stringify({ metadata }),
});
const TERMINATING = { uid: "uid-1", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };

describe("the response to a read of a Pod", () => {
  test.for([
    {
      title: "of a terminating Pod contains deletionGracePeriodSeconds",
      response: createResponse(TERMINATING),
      reading: { kind: "terminating", deletion: { terminating: true, graceSeconds: 30 } },
    },
    {
      title: "with an invalid deletionGracePeriodSeconds proves only the deletion",
      response: createResponse({ ...TERMINATING, deletionGracePeriodSeconds: -5 }),
      reading: { kind: "terminating", deletion: { terminating: true, graceSeconds: undefined } },
    },
    {
      title: "of a Pod that is not deleted counts as not terminating",
      response: createResponse({ uid: "uid-1" }),
      reading: { kind: "not-terminating" },
    },
    {
      title: "of a Pod of the same name with another uid counts as gone",
      response: createResponse({ ...TERMINATING, uid: "uid-2" }),
      reading: { kind: "gone" },
    },
    { title: "with status 404 counts as gone", response: createResponse({}, 404), reading: { kind: "gone" } },
    {
      title: "with status 403 counts as unreadable",
      response: createResponse(TERMINATING, 403),
      reading: { kind: "unreadable" },
    },
    {
      title: "that is not JSON counts as unreadable",
      response: { status: 200, text: "<html>" },
      reading: { kind: "unreadable" },
    },
    {
      title: "that is a list counts as unreadable",
      response: { status: 200, text: "[]" },
      reading: { kind: "unreadable" },
    },
  ])("$title", ({ response, reading }) => {
    expect(readPodDeletion(response, "uid-1")).toEqual(reading);
  });
});

const POD = { namespace: "shop", pod: "web-1", uid: "uid-1" };

describe("the relay's reader of Pods", () => {
  test("reads a Pod every few seconds until it is being deleted", async () => {
    const clock = createManualClock(100);
    let requestCount = 0;
    let metadata: object = { uid: "uid-1" };
    const reader = createPodReader(async () => {
      requestCount += 1;
      return createResponse(metadata);
    }, clock);
    const receivedDeletions: PodDeletion[] = [];
    reader.read(POD, (deletion) => receivedDeletions.push(deletion));
    await clock.advance(2_900);
    expect([requestCount, receivedDeletions]).toEqual([1, []]);
    await clock.advance(4_000);
    expect(requestCount).toBe(3);
    metadata = TERMINATING;
    await clock.advance(10_000);
    expect([requestCount, receivedDeletions]).toEqual([4, [{ terminating: true, graceSeconds: 30 }]]);
  });

  test("does not read a Pod again after its drain has stopped waiting", async () => {
    const clock = createManualClock(100);
    let requestCount = 0;
    const reader = createPodReader(async () => {
      requestCount += 1;
      return createResponse({ uid: "uid-1" });
    }, clock);
    const stopReading = reader.read(POD, () => undefined);
    await clock.advance(100);
    stopReading();
    await clock.advance(60_000);
    expect(requestCount).toBe(1);
  });

  test("ignores the response if the drain ended during the read", async () => {
    const clock = createManualClock(100);
    let respond: (metadata: object) => void = () => undefined;
    let requestCount = 0;
    const reader = createPodReader(() => {
      requestCount += 1;
      return new Promise((resolve) => {
        respond = (metadata) => resolve(createResponse(metadata));
      });
    }, clock);
    const received: PodDeletion[] = [];
    for (const metadata of [TERMINATING, { uid: "uid-1" }]) {
      const stopReading = reader.read(POD, (deletion) => received.push(deletion));
      stopReading();
      respond(metadata);
      await clock.advance(20_000);
    }
    expect([requestCount, received]).toEqual([2, []]);
  });

  test("repeats a read with status 403 less than once in ten seconds", async () => {
    const clock = createManualClock(100);
    let requestCount = 0;
    const reader = createPodReader(async () => {
      requestCount += 1;
      return createResponse({}, 403);
    }, clock);
    reader.read(POD, () => undefined);
    await clock.advance(60_000);
    expect(requestCount).toBe(4);
  });
});

test("5 000 draining Pods are read a few at a time, each once, within half a minute", async () => {
  const clock = createManualClock(100);
  let inProgressCount = 0;
  let maxInProgressCount = 0;
  const requestsByPath = new Map<string, number>();
  const request: SendRequest = async ({ path }) => {
    requestsByPath.set(path, (requestsByPath.get(path) ?? 0) + 1);
    inProgressCount += 1;
    maxInProgressCount = Math.max(maxInProgressCount, inProgressCount);
    await Promise.resolve();
    inProgressCount -= 1;
    return createResponse({ ...TERMINATING, uid: /pods\/web-([0-9]+)/.exec(path)?.[1] });
  };
  const reader = createPodReader(request, clock);
  let received = 0;
  for (let pod = 0; pod < 5_000; pod += 1) {
    reader.read({ namespace: "shop", pod: `web-${pod}`, uid: String(pod) }, () => {
      received += 1;
    });
  }
  await clock.advance(30_000);
  expect([received, requestsByPath.size, Math.max(...requestsByPath.values())]).toEqual([5_000, 5_000, 1]);
  expect(maxInProgressCount).toBeLessThanOrEqual(8);
});

test("the draining Pods of a large namespace do not delay the reads of another namespace", async () => {
  const clock = createManualClock(100);
  const requestedNamespaces: string[] = [];
  const reader = createPodReader(async ({ path }) => {
    requestedNamespaces.push(path.split("/")[4] ?? "");
    return createResponse({ uid: "uid-1" });
  }, clock);
  for (let pod = 0; pod < 3_000; pod += 1)
    reader.read({ namespace: "flood", pod: `web-${pod}`, uid: "uid-1" }, () => undefined);
  await clock.advance(1_000);
  const earlierCount = requestedNamespaces.length;
  for (const pod of ["a", "b"]) reader.read({ namespace: "shop", pod, uid: "uid-1" }, () => undefined);
  await clock.advance(500);
  expect(
    requestedNamespaces.slice(earlierCount, earlierCount + 20).filter((namespace) => namespace === "shop"),
  ).toHaveLength(2);
});

describe("with permission to read Pods", () => {
  let cluster: WatchedCluster;
  beforeEach(async () => {
    cluster = await createWatchedCluster({ readsPods: true });
  });
  afterEach(async () => {
    await cluster.close();
  });
  const pod = (metadata: object) => ({ metadata: { name: "web-1", namespace: "shop", uid: "uid-1", ...metadata } });

  test("a drain receives the grace period of its Pod's deletion", async () => {
    cluster.api.put("/api/v1/namespaces/shop/pods", pod(TERMINATING));
    await waitForStatus(cluster.startDrain(), { state: "out", terminating: true, graceSeconds: 30 });
  });

  test("another Pod of the same name is ignored", async () => {
    cluster.api.put("/api/v1/namespaces/shop/pods", pod({ ...TERMINATING, uid: "uid-2" }));
    const drainer = cluster.startDrain();
    await eventually(() => expect(cluster.api.requests.join()).toContain("/pods/web-1"));
    await waitForStatus(drainer, { state: "out" });
    await pause(100, "the response for the other Pod arrives, and is dropped");
    expect(drainer.lines.at(-1)).toEqual({
      state: "out",
      terminating: false,
      reason: "no Service has the Pod as an endpoint",
    });
  });
});

test("without permission to read Pods, no Pod is read", async () => {
  const cluster = await createWatchedCluster();
  await waitForStatus(cluster.startDrain(), { state: "out" });
  expect(cluster.api.requests.filter((request) => request.includes("/pods"))).toEqual([]);
  await cluster.close();
});
