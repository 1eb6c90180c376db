/** Tests hundreds of simultaneous drains, from a change in the API server to the line that each manager reads. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../time/eventually.ts";
import { samplesOf } from "../../webhook/server-under-test.ts";
import type { EndpointCase } from "../slices/slice-cases.ts";
import { createWatchedCluster, type WatchedCluster } from "../slices/watched-cluster.ts";
import { type RelayResponse, type StreamingRelay, startStreamingRelay } from "./streaming-relay.ts";

const SLICE_COUNT = 12;
const PODS_PER_SLICE = 20;

let cluster: WatchedCluster;
let relays: readonly StreamingRelay[];

beforeEach(async () => {
  cluster = await createWatchedCluster({
    timing: { pageSize: 5, staleAfterMs: 20_000, silenceMs: 20_000, relistMs: 600_000 },
  });
  relays = [];
});

afterEach(async () => {
  for (const relay of relays) await relay.close();
  await cluster.close();
});

const uidOf = (slice: number, pod: number): string => `uid-${slice}-${pod}`;

function putSlice(
  slice: number,
  isTerminating: (pod: number) => boolean,
  targetCluster: WatchedCluster = cluster,
): void {
  const endpoints = Array.from({ length: PODS_PER_SLICE }, (_, pod): EndpointCase => {
    const conditions = isTerminating(pod) ? { ready: false, serving: true, terminating: true } : { ready: true };
    return { uid: uidOf(slice, pod), address: `10.0.${slice}.${pod + 1}`, conditions };
  });
  targetCluster.put({ name: `web-${slice}`, service: "web", endpoints });
}

const lastStatesOf = (responses: readonly RelayResponse[]): readonly (string | undefined)[] =>
  responses.map((response) => response.lines().at(-1)?.state);

test("each of many managers receives its own Pod's status, from one list and one watch", {
  timeout: 300_000,
}, async () => {
  for (let slice = 0; slice < SLICE_COUNT; slice += 1) putSlice(slice, () => false);
  const relay = await startStreamingRelay({ watchPod: cluster.watches.watchPod });
  relays = [relay];
  const pods = Array.from({ length: SLICE_COUNT * PODS_PER_SLICE }, (_, index) =>
    uidOf(index % SLICE_COUNT, Math.floor(index / SLICE_COUNT)),
  );
  const responses: RelayResponse[] = [];
  for (const uid of pods) responses.push(await relay.request({ uid, addresses: [] }));
  await eventually(() => expect(new Set(lastStatesOf(responses))).toEqual(new Set(["in"])));

  for (let slice = 0; slice < SLICE_COUNT; slice += 2) putSlice(slice, (pod) => pod < 10);
  const expected = Array.from(
    pods,
    (_uid, index) => (index % SLICE_COUNT) % 2 === 0 && Math.floor(index / SLICE_COUNT) < 10,
  );
  const expectedStates = expected.map((isOut) => (isOut ? "out" : "in"));
  await eventually(() => expect(lastStatesOf(responses)).toEqual(expectedStates));
  for (const [index, response] of responses.entries()) {
    expect(response.lines().filter(({ state }) => state !== "unknown")).toHaveLength(expected[index] === true ? 2 : 1);
  }
  await eventually(() => expect(cluster.countOpenWatches()).toBe(1));
  expect(cluster.countLists()).toBe(3);
  expect(samplesOf(await relay.metrics(), "lastcall_relay_streams").get("")).toBe(pods.length);
});

test("a manager receives the same status from another replica", async () => {
  const second = await createWatchedCluster();
  try {
    for (const replica of [cluster, second]) putSlice(0, () => false, replica);
    const replicas = [cluster.watches.watchPod, second.watches.watchPod];
    relays = await Promise.all(replicas.map((watchPod) => startStreamingRelay({ watchPod })));
    const [firstRelay, otherRelay] = relays;
    const firstResponse = await firstRelay?.request({ uid: uidOf(0, 0) });
    await eventually(() => expect(firstResponse?.lines().at(-1)?.state).toBe("in"));
    await firstRelay?.end();
    expect(await firstResponse?.ended).toBe("ended");
    const otherResponse = await otherRelay?.request({ uid: uidOf(0, 0) });
    await eventually(() => expect(otherResponse?.lines().at(-1)).toEqual(firstResponse?.lines().at(-1)));
  } finally {
    await second.close();
  }
});
