/** Tests the statuses that a drain receives for its Pod, with healthy and failing API servers. */
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SLICE_WATCH_TIMING } from "../../../src/relay/slices/namespace-watch.ts";
import { createSliceWatches } from "../../../src/relay/slices/slice-watches.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { samplesOf } from "../../webhook/server-under-test.ts";
import type { Conditions, SliceCase } from "./slice-cases.ts";
import {
  createWatchedCluster,
  type DrainingManager,
  slicesPathOf,
  type WatchedCluster,
  waitForStatus,
} from "./watched-cluster.ts";

let cluster: WatchedCluster;

beforeEach(async () => {
  cluster = await createWatchedCluster();
});

afterEach(async () => {
  await cluster.close();
});

const createWebSlice = (conditions: Conditions = { ready: true }, changes: Partial<SliceCase> = {}): SliceCase => ({
  name: "web-a",
  service: "web",
  endpoints: [{ uid: "uid-1", address: "10.0.0.1", conditions }],
  ...changes,
});

const countWatchedNamespaces = async (): Promise<number | undefined> =>
  samplesOf(await cluster.metrics(), "lastcall_relay_watched_namespaces").get("");

const TERMINATING_CONDITIONS: Conditions = { ready: false, serving: true, terminating: true };

describe("the manager of a drain", () => {
  test("receives the status `unknown` immediately, then `in`, and then `out`", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    expect(drainer.lines).toEqual([{ state: "unknown", terminating: false, reason: "EndpointSlices are being read" }]);
    await waitForStatus(drainer, { state: "in", terminating: false, reason: expect.stringContaining("web") });
    cluster.put(createWebSlice(TERMINATING_CONDITIONS));
    await waitForStatus(drainer, { state: "out", terminating: true });
    cluster.remove("web-a");
    await waitForStatus(drainer, { state: "out", terminating: true, reason: "no Service has the Pod as an endpoint" });
    expect(drainer.lines).toHaveLength(4);
  });

  test("is notified that no Service selects its Pod, once the EndpointSlices are read", async () => {
    cluster.put(createWebSlice({ ready: true }, { endpoints: [{ uid: "uid-2", address: "10.0.0.2" }] }));
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "out", terminating: false, reason: "no Service has the Pod as an endpoint" });
    expect(drainer.lines.map((line) => line.state)).toEqual(["unknown", "out"]);
  });

  test("receives the status `in` again after the status `out`", async () => {
    cluster.put(createWebSlice({ ready: false }));
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "out" });
    cluster.put(createWebSlice());
    await waitForStatus(drainer, { state: "in" });
  });

  test("does not receive the status `out` while the endpoint of its Pod moves to another EndpointSlice", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    cluster.put(createWebSlice({ ready: true }, { name: "web-b" }));
    cluster.remove("web-a");
    cluster.put(createWebSlice(TERMINATING_CONDITIONS, { name: "web-b" }));
    await waitForStatus(drainer, { state: "out" });
    const states = drainer.lines.map((line) => line.state);
    expect([states.indexOf("out"), states.lastIndexOf("unknown")]).toEqual([states.length - 1, 0]);
  });

  test("does not receive changes of other Pods", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    const receivedCount = drainer.lines.length;
    const other = cluster.startDrain({ uid: "uid-2", addresses: ["10.0.0.2"] });
    cluster.put(createWebSlice({ ready: true }, { name: "web-b", endpoints: [{ uid: "uid-2", address: "10.0.0.2" }] }));
    await waitForStatus(other, { state: "in" });
    expect(drainer.lines).toHaveLength(receivedCount);
  });
});

describe("a namespace's EndpointSlices", () => {
  test("are listed once and watched by one connection for all drains", async () => {
    cluster.put(createWebSlice());
    const drains = Array.from({ length: 50 }, () => cluster.startDrain());
    for (const drainer of drains) await waitForStatus(drainer, { state: "in" });
    await eventually(() => expect(cluster.countOpenWatches()).toBe(1));
    expect(cluster.countLists()).toBe(1);
    const lateDrainer = cluster.startDrain();
    expect(lateDrainer.lines.map((line) => line.state)).toEqual(["in"]);
    expect(cluster.countLists()).toBe(1);
  });

  test("are watched from the first drain until some time after the last drain, and again for the next drain", async () => {
    cluster.put(createWebSlice());
    const first = cluster.startDrain();
    const second = cluster.startDrain();
    await waitForStatus(second, { state: "in" });
    first.unsubscribe();
    await pause(600, "the namespace would be left by now if the second drainer did not count");
    expect(await countWatchedNamespaces()).toBe(1);
    second.unsubscribe();
    await eventually(async () => expect(await countWatchedNamespaces()).toBe(0));
    await eventually(() => expect(cluster.countOpenWatches()).toBe(0));
    const requestCount = cluster.api.requests.length;
    await pause(1_500, "another watch would be asked for by now");
    expect(cluster.api.requests.length).toBe(requestCount);
    await waitForStatus(cluster.startDrain(), { state: "in" });
    expect(cluster.countLists()).toBe(2);
  });

  test("are still cached for a drain that starts soon after the previous drain", async () => {
    await cluster.close();
    cluster = await createWatchedCluster({ timing: { lingerMs: 60_000 } });
    cluster.put(createWebSlice());
    const first = cluster.startDrain();
    await waitForStatus(first, { state: "in" });
    first.unsubscribe();
    await pause(200, "some checks pass that could drop the namespace");
    expect(cluster.startDrain().lines.map((line) => line.state)).toEqual(["in"]);
  });

  test("do not show Pods of another namespace", async () => {
    cluster.put(createWebSlice());
    cluster.put(createWebSlice({ ready: true }, { namespace: "other" }));
    await waitForStatus(cluster.startDrain(), { state: "in" });
    const otherDrainer = cluster.startDrain({ namespace: "empty" });
    await waitForStatus(otherDrainer, { state: "out" });
    const otherRequests = cluster.api.requests.filter((request) => request.includes("/other/"));
    expect(otherRequests).toEqual([]);
  });

  test("are not watched beyond the limit of namespaces until another namespace is no longer watched", async () => {
    const names = ["ns-1", "ns-2", "ns-3", "ns-4"];
    const drainers = names.map((namespace) => cluster.startDrain({ namespace }));
    for (const drainer of drainers.slice(0, 3)) await waitForStatus(drainer, { state: "out" });
    const lateDrainer = drainers[3] as DrainingManager;
    expect(lateDrainer.lines).toEqual([
      {
        state: "unknown",
        terminating: false,
        reason: "the relay already watches its maximum number of namespaces",
      },
    ]);
    drainers[1]?.unsubscribe();
    await waitForStatus(lateDrainer, { state: "out" });
  });
});

test("a client that requests one namespace after the other causes few list requests", async () => {
  let nowMs = 0;
  const requestedPaths: string[] = [];
  const checks: (() => void)[] = [];
  const watches = createSliceWatches({
    request: async ({ path }) => {
      requestedPaths.push(path);
      return { status: 200, text: '{"metadata":{"resourceVersion":"1"},"items":[]}' };
    },
    stream: ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    clock: {
      nowMs: () => nowMs,
      sleep: async () => undefined,
      every: (_ms, callback) => {
        checks.push(callback);
        return () => undefined;
      },
    },
    random: () => 0.5,
    readsPods: false,
    registry: new Registry(),
    log: { info: () => undefined, warn: () => undefined },
  });
  const watchBriefly = (namespace: string): void =>
    watches.watchPod({ namespace, pod: "a", uid: "a", addresses: [] }, () => undefined)();
  const { namespaceLimit, openings, checkMs } = SLICE_WATCH_TIMING;
  for (let index = 0; index < 5_000; index += 1) watchBriefly(`n${index}`);
  await pause(0, "the requested lists start");
  expect(requestedPaths.length).toBe(namespaceLimit);
  const seconds = 10;
  for (; nowMs < seconds * 1_000; nowMs += checkMs) {
    for (const check of checks) check();
    for (let index = 0; index < 1_000; index += 1) watchBriefly(`m${nowMs}-${index}`);
    await pause(0, "the requested lists start");
  }
  process.stdout.write(`45 000 namespaces requested in ${seconds} s: ${requestedPaths.length} lists\n`);
  expect(requestedPaths.length).toBeLessThanOrEqual(openings.capacity + (seconds * 1_000) / openings.refillMs);
  await watches.stop();
});

describe("an API server", () => {
  test("that closes its watches is watched again from the last resourceVersion, and no change is lost", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    cluster.api.endWatches(true);
    cluster.put(createWebSlice(TERMINATING_CONDITIONS));
    await waitForStatus(drainer, { state: "out" });
    expect(drainer.lines.map((line) => line.state)).toEqual(["unknown", "in", "out"]);
    expect(cluster.countLists()).toBe(1);
  });

  test("that compacted the resourceVersion is listed again, and no status becomes unknown", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    cluster.put(createWebSlice({ ready: true }, { name: "web-b" }));
    cluster.api.compact();
    cluster.api.endWatches();
    cluster.put(createWebSlice(TERMINATING_CONDITIONS));
    cluster.remove("web-b");
    await waitForStatus(drainer, { state: "out" });
    expect(drainer.lines.filter((line) => line.state === "unknown")).toHaveLength(1);
  });

  test("that restarts slowly makes the status unknown until it responds again", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    await cluster.api.stopListening();
    await waitForStatus(drainer, {
      state: "unknown",
      reason: expect.stringContaining("has not responded to requests for EndpointSlices"),
    });
    await cluster.api.listenAgain();
    await waitForStatus(drainer, { state: "in" });
    expect(cluster.logLines.map((line) => line.split(" {", 1)[0])).toEqual([
      "EndpointSlices cannot be read",
      "EndpointSlices can be read again",
    ]);
  });

  test("that accepts a watch without sending a response is listed again", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    cluster.api.faults.hasSilentWatches = true;
    cluster.api.endWatches();
    cluster.put(createWebSlice(TERMINATING_CONDITIONS));
    await waitForStatus(drainer, { state: "out", terminating: true });
    expect(cluster.countLists()).toBeGreaterThan(1);
  });

  test("that does not send watch events, not even bookmarks, does not make the status unknown", async () => {
    cluster.api.faults.sendsBookmarks = false;
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    await pause(6_000, "longer than a silence is believed");
    expect(drainer.lines.map((line) => line.state)).toEqual(["unknown", "in"]);
    expect(cluster.countLists()).toBeGreaterThan(1);
    expect(samplesOf(await cluster.metrics(), "lastcall_relay_watch_failures_total").get("")).toBe(0);
  });

  test("whose connection breaks silently makes the status unknown", async () => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    cluster.api.faults.hasSilentWatches = true;
    cluster.api.faults.isUnresponsive = true;
    cluster.put(createWebSlice(TERMINATING_CONDITIONS));
    await waitForStatus(drainer, { state: "unknown" });
  });

  test("that responds 429 is retried after the time in Retry-After", async () => {
    cluster.api.faults.errorStatus = 429;
    cluster.api.faults.retryAfter = "2";
    cluster.put(createWebSlice());
    const startMs = performance.now();
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "unknown", reason: expect.stringContaining("responded with 429") });
    cluster.api.faults.errorStatus = undefined;
    await waitForStatus(drainer, { state: "in" });
    expect(performance.now() - startMs).toBeGreaterThan(1_900);
    expect(cluster.api.requests.filter((request) => !request.includes("watch="))).toHaveLength(2);
  });

  test("that responds 403 is retried at a low rate, and the drain receives the reason", async () => {
    cluster.api.faults.errorStatus = 403;
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "unknown", reason: expect.stringContaining("responded with 403") });
    await pause(500, "time for more requests than there may be");
    expect(cluster.api.requests.length).toBeLessThan(8);
    cluster.api.faults.errorStatus = 500;
    await eventually(() => expect(cluster.api.requests.length).toBeGreaterThan(12));
    expect(drainer.lines).toHaveLength(2);
    expect(samplesOf(await cluster.metrics(), "lastcall_relay_watch_failures_total").get("")).toBeGreaterThan(0);
  });

  test.for([
    { title: "bytes that are not JSON", bytes: "\u0000{{{ nonsense\n" },
    { title: "an event without an object", bytes: '{"type":"MODIFIED"}\n' },
    { title: "an event of an unknown type", bytes: '{"type":"WHAT","object":{}}\n' },
    { title: "an ERROR event", bytes: '{"type":"ERROR","object":{"code":500}}\n' },
    { title: "an ERROR event with code 410", bytes: '{"type":"ERROR","object":{"code":410}}\n' },
  ])("that sends $title on a watch is listed again, and no change is lost", async ({ bytes }) => {
    cluster.put(createWebSlice());
    const drainer = cluster.startDrain();
    await waitForStatus(drainer, { state: "in" });
    await eventually(() => expect(cluster.countOpenWatches()).toBe(1));
    cluster.api.writeToWatches(slicesPathOf("shop"), bytes);
    await eventually(() => expect(cluster.countLists()).toBe(2));
    cluster.put(createWebSlice(TERMINATING_CONDITIONS));
    await waitForStatus(drainer, { state: "out" });
  });

  test("that sends malformed EndpointSlices does not end the watch", async () => {
    const drainer = cluster.startDrain();
    await eventually(() => expect(cluster.countOpenWatches()).toBe(1));
    const malformedSlices = [
      { endpoints: 7 },
      { endpoints: [null, 7, {}] },
      { endpoints: [{ addresses: "x", targetRef: [] }] },
    ];
    for (const malformedSlice of malformedSlices) {
      const metadata = { name: "odd", namespace: "shop", labels: { "kubernetes.io/service-name": "web" } };
      cluster.api.put(slicesPathOf("shop"), { metadata, ...malformedSlice });
    }
    cluster.put(createWebSlice());
    await waitForStatus(drainer, { state: "in" });
    expect(samplesOf(await cluster.metrics(), "lastcall_relay_slice_events_total").get("")).toBe(4);
    expect(cluster.countLists()).toBe(1);
  });
});

test("two relay replicas send the same statuses", async () => {
  const second = await createWatchedCluster();
  try {
    for (const replica of [cluster, second]) replica.put(createWebSlice());
    const drainers = [cluster.startDrain(), second.startDrain()];
    for (const drainer of drainers) await waitForStatus(drainer, { state: "in" });
    for (const replica of [cluster, second]) replica.put(createWebSlice(TERMINATING_CONDITIONS));
    for (const drainer of drainers) await waitForStatus(drainer, { state: "out" });
    expect(drainers[0]?.lines).toEqual(drainers[1]?.lines);
  } finally {
    await second.close();
  }
});

test("the shutdown of the relay closes every watch immediately", async () => {
  for (const namespace of ["ns-1", "ns-2"]) await waitForStatus(cluster.startDrain({ namespace }), { state: "out" });
  expect(await countWatchedNamespaces()).toBe(2);
  await cluster.watches.stop();
  await eventually(() => expect(cluster.countOpenWatches("ns-1") + cluster.countOpenWatches("ns-2")).toBe(0));
  expect(await countWatchedNamespaces()).toBe(0);
});
