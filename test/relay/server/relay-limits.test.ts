import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFairLimit, createRelayLimits, type RelayLimits } from "../../../src/relay/server/relay-limits.ts";

/** Opens streams of new Pods until one is refused; returns the number of open streams. */
function openStreams(limits: RelayLimits, namespace: string, attempts = 100_000): number {
  for (let opened = 0; opened < attempts; opened += 1) {
    if (limits.startStream({ namespace, uid: `${namespace}-${opened}` }) !== undefined) return opened;
  }
  return attempts;
}

describe("status streams of the relay", () => {
  test("of 5 000 Pods of one namespace are within the limit, with room for other namespaces", () => {
    const limits = createRelayLimits();
    expect(openStreams(limits, "shop", 5_000)).toBe(5_000);
    expect(openStreams(limits, "other", 1_000)).toBe(1_000);
  });

  test("of a namespace that opens as many as possible leave half of the limit to all other namespaces", () => {
    const limits = createRelayLimits(1_200);
    expect(openStreams(limits, "hostile")).toBe(600);
    expect(limits.startStream({ namespace: "hostile", uid: "new" })).toBe("namespace_streams");
    expect(openStreams(limits, "second")).toBe(300);
    expect(limits.startStream({ namespace: "shop", uid: "web-1" })).toBeUndefined();
  });

  test("of one Pod are limited to 16, however many streams are free", () => {
    const limits = createRelayLimits();
    const owner = { namespace: "shop", uid: "web-1" };
    for (let opened = 0; opened < 16; opened += 1) expect(limits.startStream(owner)).toBeUndefined();
    expect(limits.startStream(owner)).toBe("pod_streams");
    expect(limits.startStream({ namespace: "shop", uid: "web-2" })).toBeUndefined();
    limits.endStream(owner);
    expect(limits.startStream(owner)).toBeUndefined();
  });

  test("that ended do not count or use memory", () => {
    const owners = fc.array(
      fc.record({ namespace: fc.constantFrom("a", "b", "c"), uid: fc.constantFrom("1", "2", "3") }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(owners, (requested) => {
        const limits = createRelayLimits(20);
        const startedStreams = requested.filter((owner) => limits.startStream(owner) === undefined);
        expect(limits.streams()).toBe(startedStreams.length);
        expect(startedStreams.length).toBeLessThan(20);
        for (const owner of startedStreams) limits.endStream(owner);
        expect(limits.streams()).toBe(0);
        expect(openStreams(limits, "a")).toBe(10);
      }),
    );
  });
});

test("heartbeats of status streams are limited per namespace, and a stream without a heartbeat is accepted at that limit", () => {
  const limits = createRelayLimits();
  let heartbeatCount = 0;
  while (limits.startHeartbeat("hostile")) heartbeatCount += 1;
  expect([heartbeatCount, limits.startHeartbeat("shop")]).toEqual([2_500, true]);
  expect(limits.startStream({ namespace: "hostile", uid: "web-1" })).toBeUndefined();
  limits.endHeartbeat("hostile");
  limits.endHeartbeat("hostile");
  expect(limits.startHeartbeat("hostile")).toBe(true);
});

test("each released heartbeat is available again", () => {
  const limit = createFairLimit(20);
  for (let count = 0; count < 3; count += 1) limit.take("a");
  limit.release("a");
  limit.release("a");
  let availableCount = 0;
  while (limit.take("a")) availableCount += 1;
  expect([availableCount, limit.takenCount()]).toEqual([9, 10]);
});

describe("requests to the relay", () => {
  test("of a namespace are rejected for some milliseconds above its limit, and requests of other namespaces are accepted", () => {
    const limits = createRelayLimits();
    let acceptedCount = 0;
    while (limits.takeRequestToken("hostile", 0)) acceptedCount += 1;
    expect(acceptedCount).toBe(12_000);
    expect(limits.takeRequestToken("shop", 0)).toBe(true);
    expect(limits.takeRequestToken("hostile", 4)).toBe(false);
    expect(limits.takeRequestToken("hostile", 10)).toBe(true);
  });

  test("are counted for 2 000 namespaces, of which a new namespace replaces the least recently active", () => {
    const limits = createRelayLimits();
    while (limits.takeRequestToken("first", 0));
    for (let other = 1; other < 2_000; other += 1) limits.takeRequestToken(`ns-${other}`, 0);
    expect(limits.takeRequestToken("first", 0)).toBe(false);
    for (let other = 2_000; other < 3_500; other += 1) limits.takeRequestToken(`ns-${other}`, 0);
    expect(limits.takeRequestToken("first", 0)).toBe(false);
    for (let other = 1; other <= 2_000; other += 1) limits.takeRequestToken(`ns-${other}`, 0);
    expect(limits.takeRequestToken("first", 0)).toBe(true);
  });
});
