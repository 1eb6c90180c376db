import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDrainRing, SAME_DRAIN_MS } from "../../../src/relay/drains/drain-ring.ts";
import { runningReport, someDrain, someReport } from "../../drain-history/some-drain.ts";

function createDrain(id: string, namespace: string, endedAtMs: number, uid = id) {
  return someDrain({ id, namespace, endedAtMs, uid });
}

test("stored drains are listed newest first, for all namespaces or one, and found by id", () => {
  const ring = createDrainRing(10, () => 0);
  for (const record of [createDrain("a", "shop", 1), createDrain("b", "bar", 2), createDrain("c", "shop", 3)])
    ring.add(record);
  expect(ring.list().map(({ id }) => id)).toEqual(["c", "b", "a"]);
  expect(ring.list("shop").map(({ id }) => id)).toEqual(["c", "a"]);
  expect(ring.list("nowhere")).toEqual([]);
  expect(ring.find("b")).toEqual(createDrain("b", "bar", 2));
  expect(ring.find("x")).toBeUndefined();
});

test("a second report of a Pod within a minute replaces the first report under the same id", () => {
  const ring = createDrainRing(10, () => 0);
  expect(ring.add(createDrain("a", "shop", 0, "pod"))).toBe("new");
  expect(ring.add(createDrain("b", "shop", 1, "other"))).toBe("new");
  expect(ring.add({ ...createDrain("c", "shop", SAME_DRAIN_MS - 1, "pod"), pod: "renamed" })).toBe("repeated");
  expect(ring.list().map(({ id, pod }) => [id, pod])).toEqual([
    ["a", "renamed"],
    ["b", "web-7d9f-abcde"],
  ]);
  expect(ring.find("c")).toBeUndefined();
  expect(ring.add(createDrain("d", "shop", 2 * SAME_DRAIN_MS, "pod"))).toBe("new");
});

test("the second report of a Pod whose first report is missing is listed at the end time of its drain", () => {
  const ring = createDrainRing(10, () => 0);
  for (const record of [createDrain("a", "shop", 1), createDrain("b", "shop", 9)]) ring.add(record);
  const resets = { draining: 0, stopping: 0, probes: 0, stoppingMs: 90_000 };
  expect(ring.add({ ...createDrain("c", "shop", 5), report: someReport({ resets }) })).toBe("new");
  expect(ring.list("shop").map(({ id }) => id)).toEqual(["b", "c", "a"]);
});

test("the second report of a Pod replaces the first report, and the drain's id, time and place in the list stay", () => {
  const ring = createDrainRing(10, () => 0);
  for (const record of [createDrain("a", "shop", 1), createDrain("b", "shop", 9)]) ring.add(record);
  const report = someReport({ resets: { draining: 0, stopping: 2, probes: 0, stoppingMs: 90_000 } });
  expect(ring.add({ ...createDrain("c", "shop", 7, "a"), report })).toBe("repeated");
  expect(ring.list("shop")).toEqual([createDrain("b", "shop", 9), { ...createDrain("a", "shop", 1), report }]);
});

describe("the record of a running drain", () => {
  const createRunningDrain = (id: string, endedAtMs: number, remainingMs = 55_000) => ({
    ...createDrain(id, "shop", endedAtMs, "pod"),
    report: runningReport({ remainingMs }),
  });

  test("is replaced by each later report, and by the final report, which counts as a new drain", () => {
    const ring = createDrainRing(10, () => 0);
    expect(ring.add(createRunningDrain("a", 0))).toBe("new");
    expect(ring.add(createRunningDrain("b", 20_000, 35_000))).toBe("repeated");
    expect(ring.list()).toEqual([createRunningDrain("a", 20_000, 35_000)]);
    const end = createDrain("c", "shop", 5 * SAME_DRAIN_MS, "pod");
    expect(ring.add(end)).toBe("new");
    expect(ring.list()).toEqual([{ ...end, id: "a" }]);
  });

  test("does not replace the final report if it arrives late, and counts as a new drain a minute later", () => {
    const ring = createDrainRing(10, () => 0);
    const end = createDrain("a", "shop", 1_000, "pod");
    ring.add(end);
    expect(ring.add(createRunningDrain("b", 2_000))).toBe("repeated");
    expect(ring.list()).toEqual([end]);
    expect(ring.add(createRunningDrain("c", 1_000 + SAME_DRAIN_MS))).toBe("new");
  });

  test("is not listed later than a minute after its deadline, because its manager has exited or another replica has the final report", () => {
    let nowMs = 0;
    const ring = createDrainRing(10, () => nowMs);
    ring.add(createRunningDrain("a", 0));
    nowMs = 115_000;
    expect(ring.list("shop")).toHaveLength(1);
    nowMs = 115_001;
    expect([ring.list("shop"), ring.list()]).toEqual([[], []]);
  });
});

test("reports with the same Pod uid in two namespaces are stored as two drains", () => {
  const ring = createDrainRing(10, () => 0);
  ring.add(createDrain("a", "shop", 0, "pod"));
  expect(ring.add(createDrain("b", "evil", 1, "pod"))).toBe("new");
  expect(ring.find("a")).toEqual(createDrain("a", "shop", 0, "pod"));
});

test("a namespace that sends very many reports loses only its own stored drains", () => {
  const ring = createDrainRing(100, () => 0);
  for (let index = 0; index < 30; index += 1) ring.add(createDrain(`quiet-${index}`, "quiet", index));
  for (let index = 0; index < 10_000; index += 1) ring.add(createDrain(`loud-${index}`, "loud", 1_000 + index));
  expect(ring.list("quiet")).toHaveLength(30);
  expect(ring.list("loud")).toHaveLength(70);
  expect(ring.list("loud")[0]?.id).toBe("loud-9999");
});

test("the oldest stored drain is removed if all namespaces have equally many drains", () => {
  const ring = createDrainRing(3, () => 0);
  for (let index = 0; index < 5; index += 1) ring.add(createDrain(`${index}`, `n${index}`, index));
  expect(ring.list().map(({ id }) => id)).toEqual(["4", "3", "2"]);
});

test("the store of drains never exceeds its limit, and a namespace within its share of the store does not lose a drain", () => {
  const generatedReports = fc.array(fc.tuple(fc.nat(5), fc.nat(20), fc.nat(90_000)), { maxLength: 200 });
  fc.assert(
    fc.property(generatedReports, fc.integer({ min: 6, max: 40 }), (reports, limit) => {
      const ring = createDrainRing(limit, () => 0);
      const addedCounts = new Map<string, number>();
      let nowMs = 0;
      for (const [index, [name, uid, waitMs]] of reports.entries()) {
        nowMs += waitMs;
        const namespace = `n${name}`;
        const result = ring.add(createDrain(`${index}`, namespace, nowMs, `${uid}`));
        if (result === "new") addedCounts.set(namespace, (addedCounts.get(namespace) ?? 0) + 1);
        expect(ring.list(namespace)[0]?.uid).toBe(`${uid}`);
      }
      const addedTotal = [...addedCounts.values()].reduce((sum, count) => sum + count, 0);
      expect(ring.list()).toHaveLength(Math.min(limit, addedTotal));
      const share = Math.floor(limit / 6);
      for (const [namespace, count] of addedCounts) {
        expect(ring.list(namespace).length).toBeGreaterThanOrEqual(Math.min(count, share));
      }
      const endTimes = ring.list().map(({ endedAtMs }) => endedAtMs);
      expect(endTimes).toEqual(endTimes.toSorted((a, b) => b - a));
    }),
  );
});

test("a report replaces the record of a lost drain of the same Pod, and that record never replaces a report", () => {
  const ring = createDrainRing(10, () => 0);
  const lostReport = { ...someReport(), outcome: "lost" } as const;
  ring.add(createDrain("a", "shop", 0, "pod"));
  expect(ring.add({ ...createDrain("b", "shop", 1, "pod"), report: lostReport })).toBe("repeated");
  expect(ring.find("a")?.report.outcome).toBe("drained");
  ring.add({ ...createDrain("c", "shop", 2, "other"), report: lostReport });
  ring.add(createDrain("d", "shop", 3, "other"));
  expect(ring.find("c")?.report.outcome).toBe("drained");
});
