/** When nodes' Events about the manager's image keep a namespace from injection. */
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import {
  isInForce,
  keepPullEvent,
  newPullEvents,
  pullErrorsByNamespace,
} from "../../../src/webhook/cluster/image-pulls.ts";

const IMAGE = "registry.example/lastcall-manager:0.1.0";
const START_MS = Date.parse("2026-11-23T12:00:00Z");
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

type Said = { readonly atMs?: number; readonly count?: number; readonly image?: string; readonly namespace?: string };

let names = 0;

/** As kubelet writes one. */
function event(reason: string, text: string, { atMs = 0, count = 1, image = IMAGE, namespace = "shop" }: Said = {}) {
  names += 1;
  const time = new Date(START_MS + atMs).toISOString();
  return {
    metadata: { name: `web-0.${names}`, namespace },
    reason,
    message: text.replace("IMAGE", `"${image}"`),
    firstTimestamp: time,
    lastTimestamp: time,
    count,
  };
}

const failed = (said?: Said) => event("Failed", "Failed to pull image IMAGE: not found", said);
const backedOff = (said?: Said) => event("BackOff", "Back-off pulling image IMAGE", said);
const pulled = (said?: Said) => event("Pulled", "Successfully pulled image IMAGE in 1.2s", said);

function troublesAfter(...events: readonly object[]) {
  const store = createStore(
    keepPullEvent(IMAGE, () => START_MS + 6 * MINUTE_MS),
    newPullEvents,
  );
  for (const each of events) store.put(each as Record<string, unknown>);
  return pullErrorsByNamespace(store.entries);
}

describe("a namespace is in trouble", () => {
  test("once pulls have failed three times, in one Event or in several", () => {
    const trouble = troublesAfter(failed({ count: 3, atMs: MINUTE_MS })).get("shop");
    const message = `Failed to pull image "${IMAGE}": not found`;
    expect(trouble).toMatchObject({ lastMs: START_MS + MINUTE_MS, message });
    expect(troublesAfter(failed(), failed(), backedOff()).size).toBe(1);
    expect(troublesAfter(failed(), failed()).size).toBe(0);
  });

  test("alone: others are not", () => {
    const here = failed({ count: 5 });
    const there = failed({ count: 2, namespace: "other" });
    expect([...troublesAfter(here, there).keys()]).toEqual(["shop"]);
  });

  test.for<[string, object]>([
    ["has pulled it since", pulled({ atMs: 4 * MINUTE_MS })],
    ["pulled it within two minutes before", pulled({ atMs: MINUTE_MS + SECOND_MS })],
    ["had it already", event("Pulled", "Container image IMAGE already present on machine", { atMs: 3 * MINUTE_MS })],
  ])("but not while any node %s", ([, good]) => {
    expect(troublesAfter(failed({ count: 9, atMs: 3 * MINUTE_MS }), good).size).toBe(0);
  });

  test("though a node pulled it long before", () => {
    expect(troublesAfter(failed({ count: 9, atMs: 3 * MINUTE_MS }), pulled({ atMs: 0 })).size).toBe(1);
  });

  test.for<[string, object]>([
    ["about another image", failed({ count: 9, image: "registry.example/lastcall-manager:0.0.9" })],
    ["of another kind", { ...failed({ count: 9 }), reason: "Unhealthy" }],
    ["without a time", { ...failed({ count: 9 }), firstTimestamp: null, lastTimestamp: null }],
    ["without a message", { ...failed({ count: 9 }), message: 7 }],
  ])("never by an Event %s", ([, other]) => {
    expect(troublesAfter(other).size).toBe(0);
  });

  test("by Events of the newer kind, which count in a series", () => {
    const series = { count: 4, lastObservedTime: "2026-11-23T12:05:00.000000Z" };
    const newer = { ...failed(), firstTimestamp: null, lastTimestamp: null, eventTime: "2026-11-23T12:00:00Z", series };
    expect(troublesAfter(newer).get("shop")?.lastMs).toBe(START_MS + 5 * MINUTE_MS);
  });
});

describe("the time of an Event", () => {
  const at = (ms: number) => new Date(START_MS + ms).toISOString();
  const forged = (metadata: object) => ({
    ...failed({ count: 3 }),
    metadata: { name: "web-0.forged", namespace: "shop", ...metadata },
    lastTimestamp: "2099-01-01T00:00:00Z",
  });
  const created = forged({ creationTimestamp: at(0) });
  const lastMs = (event: object, readMs: number) => {
    const kept = keepPullEvent(IMAGE, () => START_MS + readMs)(event as Record<string, unknown>);
    return kept === undefined ? undefined : kept.lastMs - START_MS;
  };

  test("is when the API server created it, if it is dated years ahead: reading it again makes it no younger", () => {
    expect([0, 5 * MINUTE_MS, 12 * MINUTE_MS].map((readMs) => lastMs(created, readMs))).toEqual([0, 0, 0]);
    expect(lastMs(created, 12 * MINUTE_MS + 1)).toBeUndefined();
  });

  test("is that of the reading, if a node's clock is ahead by two minutes at most", () => {
    const early = { ...created, lastTimestamp: at(2 * MINUTE_MS) };
    expect(lastMs(early, 0)).toBe(0);
    expect(lastMs(early, MINUTE_MS)).toBe(MINUTE_MS);
    expect(lastMs(early, 3 * MINUTE_MS)).toBe(2 * MINUTE_MS);
    const tooEarly = { ...created, lastTimestamp: at(3 * MINUTE_MS + 1) };
    expect(lastMs(tooEarly, MINUTE_MS)).toBe(0);
  });

  test("is never after the reading, though the API server's clock is ahead", () => {
    expect(lastMs(forged({ creationTimestamp: at(MINUTE_MS) }), 0)).toBe(0);
  });

  test("counts in a series as well", () => {
    expect(lastMs({ ...created, series: { count: 3, lastObservedTime: "2099-01-01T00:00:00.000000Z" } }, 1)).toBe(0);
  });

  test("is needed: an Event of 2099 without one of the API server is not kept", () => {
    expect(lastMs(forged({}), 0)).toBeUndefined();
  });

  test("does not keep a later pull from ending a trouble", () => {
    expect(troublesAfter(created).size).toBe(1);
    expect(troublesAfter(created, pulled({ atMs: SECOND_MS })).size).toBe(0);
  });
});

test("a pull that is dated years ahead hides no failure that comes long after it", () => {
  const forged = { ...pulled(), lastTimestamp: "2099-01-01T00:00:00Z" };
  const created = { ...forged, metadata: { ...forged.metadata, creationTimestamp: new Date(START_MS).toISOString() } };
  expect(troublesAfter(created, failed({ count: 3, atMs: 3 * MINUTE_MS })).size).toBe(1);
});

test("one Event counts as three failures at most and as one at least", () => {
  const countOf = (count: number) =>
    keepPullEvent(IMAGE, () => START_MS)(failed({ count }) as Record<string, unknown>)?.count;
  expect([-9, 0, 1, 2, 3, 4, 1_000_000].map(countOf)).toEqual([1, 1, 1, 2, 3, 3, 3]);
  expect(troublesAfter(failed({ count: -1_000_000 }), failed(), failed()).size).toBe(1);
});

test("a trouble of which no node has spoken for ten minutes is over", () => {
  const trouble = { lastMs: START_MS, message: "" };
  expect(isInForce(trouble, START_MS + 10 * MINUTE_MS - 1)).toBe(true);
  expect(isInForce(trouble, START_MS + 10 * MINUTE_MS)).toBe(false);
  expect(isInForce(undefined, START_MS)).toBe(false);
});
