/** Tests which Events of nodes stop injection in a namespace because the manager's image cannot be pulled. */
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import {
  isCurrent,
  newPullEvents,
  pullErrorsByNamespace,
  pullEventReducer,
} from "../../../src/webhook/cluster/image-pulls.ts";

const IMAGE = "registry.example/lastcall-manager:0.1.0";
const START_MS = Date.parse("2026-11-23T12:00:00Z");
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

type EventFields = {
  readonly atMs?: number;
  readonly count?: number;
  readonly image?: string;
  readonly namespace?: string;
};

let nameCount = 0;

/** Creates an Event as the kubelet writes it. */
function createEvent(
  reason: string,
  text: string,
  { atMs = 0, count = 1, image = IMAGE, namespace = "shop" }: EventFields = {},
) {
  nameCount += 1;
  const time = new Date(START_MS + atMs).toISOString();
  return {
    metadata: { name: `web-0.${nameCount}`, namespace },
    reason,
    message: text.replace("IMAGE", `"${image}"`),
    firstTimestamp: time,
    lastTimestamp: time,
    count,
  };
}

const createFailedPull = (fields?: EventFields) =>
  createEvent("Failed", "Failed to pull image IMAGE: not found", fields);
const createPullBackOff = (fields?: EventFields) => createEvent("BackOff", "Back-off pulling image IMAGE", fields);
const createSuccessfulPull = (fields?: EventFields) =>
  createEvent("Pulled", "Successfully pulled image IMAGE in 1.2s", fields);

function failuresAfter(...events: readonly object[]) {
  const store = createStore(
    pullEventReducer(IMAGE, () => START_MS + 6 * MINUTE_MS),
    newPullEvents,
  );
  for (const event of events) store.put(event as Record<string, unknown>);
  return pullErrorsByNamespace(store.entries);
}

describe("the manager's image in a namespace", () => {
  test("counts as unpullable after three failed pulls, in one Event or in several", () => {
    const failure = failuresAfter(createFailedPull({ count: 3, atMs: MINUTE_MS })).get("shop");
    const message = `Failed to pull image "${IMAGE}": not found`;
    expect(failure).toMatchObject({ lastMs: START_MS + MINUTE_MS, message });
    expect(failuresAfter(createFailedPull(), createFailedPull(), createPullBackOff()).size).toBe(1);
    expect(failuresAfter(createFailedPull(), createFailedPull()).size).toBe(0);
  });

  test("counts as unpullable only after failed pulls of that namespace's Pods", () => {
    const shopEvent = createFailedPull({ count: 5 });
    const otherEvent = createFailedPull({ count: 2, namespace: "other" });
    expect([...failuresAfter(shopEvent, otherEvent).keys()]).toEqual(["shop"]);
  });

  test.for<[string, object]>([
    ["pulled the image after the last failure", createSuccessfulPull({ atMs: 4 * MINUTE_MS })],
    [
      "pulled the image at most two minutes before the last failure",
      createSuccessfulPull({ atMs: MINUTE_MS + SECOND_MS }),
    ],
    [
      "already had the image",
      createEvent("Pulled", "Container image IMAGE already present on machine", { atMs: 3 * MINUTE_MS }),
    ],
  ])("does not count as unpullable if a node %s", ([, success]) => {
    expect(failuresAfter(createFailedPull({ count: 9, atMs: 3 * MINUTE_MS }), success).size).toBe(0);
  });

  test("counts as unpullable even if a node pulled the image long before the failures", () => {
    expect(
      failuresAfter(createFailedPull({ count: 9, atMs: 3 * MINUTE_MS }), createSuccessfulPull({ atMs: 0 })).size,
    ).toBe(1);
  });

  test.for<[string, object]>([
    ["about another image", createFailedPull({ count: 9, image: "registry.example/lastcall-manager:0.0.9" })],
    ["of another kind", { ...createFailedPull({ count: 9 }), reason: "Unhealthy" }],
    ["without a time", { ...createFailedPull({ count: 9 }), firstTimestamp: null, lastTimestamp: null }],
    ["without a message", { ...createFailedPull({ count: 9 }), message: 7 }],
  ])("does not count as unpullable after an Event %s", ([, other]) => {
    expect(failuresAfter(other).size).toBe(0);
  });

  test("counts as unpullable after Events of events.k8s.io, whose series contains the count", () => {
    const series = { count: 4, lastObservedTime: "2026-11-23T12:05:00.000000Z" };
    const seriesEvent = {
      ...createFailedPull(),
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: "2026-11-23T12:00:00Z",
      series,
    };
    expect(failuresAfter(seriesEvent).get("shop")?.lastMs).toBe(START_MS + 5 * MINUTE_MS);
  });
});

describe("the time of an Event about an image pull", () => {
  const timeAt = (ms: number) => new Date(START_MS + ms).toISOString();
  const createForgedEvent = (metadata: object) => ({
    ...createFailedPull({ count: 3 }),
    metadata: { name: "web-0.forged", namespace: "shop", ...metadata },
    lastTimestamp: "2099-01-01T00:00:00Z",
  });
  const forgedEvent = createForgedEvent({ creationTimestamp: timeAt(0) });
  const readLastMs = (event: object, readMs: number) => {
    const storedEvent = pullEventReducer(IMAGE, () => START_MS + readMs)(event as Record<string, unknown>);
    return storedEvent === undefined ? undefined : storedEvent.lastMs - START_MS;
  };

  test("is its creationTimestamp if its other times are years ahead, also in later reads", () => {
    expect([0, 5 * MINUTE_MS, 12 * MINUTE_MS].map((readMs) => readLastMs(forgedEvent, readMs))).toEqual([0, 0, 0]);
    expect(readLastMs(forgedEvent, 12 * MINUTE_MS + 1)).toBeUndefined();
  });

  test("is the time of the read if the node's clock is at most two minutes ahead", () => {
    const earlyEvent = { ...forgedEvent, lastTimestamp: timeAt(2 * MINUTE_MS) };
    expect(readLastMs(earlyEvent, 0)).toBe(0);
    expect(readLastMs(earlyEvent, MINUTE_MS)).toBe(MINUTE_MS);
    expect(readLastMs(earlyEvent, 3 * MINUTE_MS)).toBe(2 * MINUTE_MS);
    const tooEarlyEvent = { ...forgedEvent, lastTimestamp: timeAt(3 * MINUTE_MS + 1) };
    expect(readLastMs(tooEarlyEvent, MINUTE_MS)).toBe(0);
  });

  test("is never after the read, even if the API server's clock is ahead", () => {
    expect(readLastMs(createForgedEvent({ creationTimestamp: timeAt(MINUTE_MS) }), 0)).toBe(0);
  });

  test("is its creationTimestamp if the last time of its series is years ahead", () => {
    expect(
      readLastMs({ ...forgedEvent, series: { count: 3, lastObservedTime: "2099-01-01T00:00:00.000000Z" } }, 1),
    ).toBe(0);
  });

  test("is unknown if its other times are years ahead and it does not have a creationTimestamp, and the Event is skipped", () => {
    expect(readLastMs(createForgedEvent({}), 0)).toBeUndefined();
  });

  test("can be years ahead, and a later successful pull still removes the error", () => {
    expect(failuresAfter(forgedEvent).size).toBe(1);
    expect(failuresAfter(forgedEvent, createSuccessfulPull({ atMs: SECOND_MS })).size).toBe(0);
  });
});

test("a successful pull whose Event is dated years ahead does not hide later failures", () => {
  const forged = { ...createSuccessfulPull(), lastTimestamp: "2099-01-01T00:00:00Z" };
  const created = { ...forged, metadata: { ...forged.metadata, creationTimestamp: new Date(START_MS).toISOString() } };
  expect(failuresAfter(created, createFailedPull({ count: 3, atMs: 3 * MINUTE_MS })).size).toBe(1);
});

test("one Event counts as one to three failed pulls, whatever its count is", () => {
  const countOf = (count: number) =>
    pullEventReducer(IMAGE, () => START_MS)(createFailedPull({ count }) as Record<string, unknown>)?.count;
  expect([-9, 0, 1, 2, 3, 4, 1_000_000].map(countOf)).toEqual([1, 1, 1, 2, 3, 3, 3]);
  expect(failuresAfter(createFailedPull({ count: -1_000_000 }), createFailedPull(), createFailedPull()).size).toBe(1);
});

test("a pull failure expires ten minutes after its last Event", () => {
  const failure = { lastMs: START_MS, message: "" };
  expect(isCurrent(failure, START_MS + 10 * MINUTE_MS - 1)).toBe(true);
  expect(isCurrent(failure, START_MS + 10 * MINUTE_MS)).toBe(false);
  expect(isCurrent(undefined, START_MS)).toBe(false);
});
