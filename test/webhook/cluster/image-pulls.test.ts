/** When nodes' Events about the manager's image keep a namespace from injection. */
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import { isInForce, keepPullEvent, pullTroubles } from "../../../src/webhook/cluster/image-pulls.ts";

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
  const store = createStore(keepPullEvent(IMAGE));
  for (const each of events) store.put(each as Record<string, unknown>);
  return pullTroubles(store.entries);
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

test("a trouble of which no node has spoken for ten minutes is over", () => {
  const trouble = { lastMs: START_MS, message: "" };
  expect(isInForce(trouble, START_MS + 10 * MINUTE_MS - 1)).toBe(true);
  expect(isInForce(trouble, START_MS + 10 * MINUTE_MS)).toBe(false);
  expect(isInForce(undefined, START_MS)).toBe(false);
});
