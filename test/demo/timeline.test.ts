import fc from "fast-check";
import { expect, test } from "vitest";
import type { PodEnd } from "../../src/demo/report/pod-end.ts";
import { mergeSpans, timelineOf, timelineText } from "../../src/demo/report/timeline.ts";
import { timelineSvg } from "../../src/demo/report/timeline-svg.ts";

const POD_END: PodEnd = {
  pod: "hello-1",
  address: "10.66.0.10",
  deletedMs: 100_000,
  triggeredMs: 100_000,
  slicesWithdrawnMs: undefined,
  propagationMs: 2_000,
  events: [
    { atMs: 100_000, container: "", type: "deleted", detail: "" },
    { atMs: 107_000, container: "app", type: "SIGTERM", detail: "" },
    { atMs: 107_020, container: "app", type: "exited", detail: "" },
    { atMs: 107_030, container: "lastcall", type: "SIGTERM", detail: "" },
    { atMs: 107_100, container: "lastcall", type: "exited", detail: "" },
    { atMs: 107_110, container: "", type: "gone", detail: "" },
  ],
  forwardedConnections: [
    { pod: "10.66.0.10", fromMs: 99_000, toMs: 101_000 },
    { pod: "10.66.0.10", fromMs: 100_500, toMs: 104_000 },
    { pod: "10.66.0.11", fromMs: 100_000, toMs: 107_000 },
  ],
  summary: {
    outcome: "drained",
    trigger: "relay",
    milliseconds: { withdrawing: 5_000, deregistration: 0, draining: 2_000, holding: 0 },
    left: [],
    leftTotal: 0,
    evidenceSource: "netlink",
    why: "",
    relay: "",
    withdrawnAfterMs: -1,
  },
};

/** The slice changed after 1 s and the manager was notified 20 ms later; the hook took 200 ms to start. */
const POD_END_WITH_RELAY: PodEnd = {
  ...POD_END,
  triggeredMs: 100_200,
  slicesWithdrawnMs: 101_000,
  summary: { ...requireSummary(POD_END), relay: "withdrawn", withdrawnAfterMs: 820 },
};

function requireSummary({ summary }: PodEnd): NonNullable<PodEnd["summary"]> {
  if (summary === undefined) throw new Error("the fixture has no report");
  return summary;
}

test("the timeline has lanes for the proxy, the Pod's own connections, the drain's phases and the containers", () => {
  const lanes = Object.fromEntries(timelineOf(POD_END).lanes.map((lane) => [lane.label, lane.spans]));
  expect(lanes).toEqual({
    "Pod is listed as ready": [{ fromMs: -1_000, toMs: 0 }],
    "proxy sends new connections": [{ fromMs: -1_000, toMs: 2_000 }],
    "open connections": [{ fromMs: -1_000, toMs: 4_000 }],
    "lastcall: withdrawing": [{ fromMs: 0, toMs: 5_000 }],
    "lastcall: draining": [{ fromMs: 5_000, toMs: 7_000 }],
    "container app runs": [{ fromMs: -1_000, toMs: 7_020 }],
    "container lastcall runs": [{ fromMs: -1_000, toMs: 7_100 }],
  });
});

test("with the relay, the timeline shows when the Pod was withdrawn and when the manager was notified of the withdrawal", () => {
  const { lanes, marks } = timelineOf(POD_END_WITH_RELAY);
  expect(Object.fromEntries(lanes.map((lane) => [lane.label, lane.spans]))).toMatchObject({
    "EndpointSlices list the Pod": [{ fromMs: -1_000, toMs: 1_000 }],
    "proxy sends new connections": [{ fromMs: -1_000, toMs: 2_000 }],
    "lastcall: before withdrawal": [{ fromMs: 200, toMs: 1_020 }],
    "lastcall: withdrawing": [{ fromMs: 200, toMs: 5_200 }],
    "lastcall: draining": [{ fromMs: 5_200, toMs: 7_200 }],
  });
  expect(marks.slice(0, 4)).toEqual([
    { atMs: 0, label: "deleted" },
    { atMs: 1_000, label: "Pod is withdrawn from EndpointSlices" },
    { atMs: 1_020, label: "lastcall is notified of the withdrawal" },
    { atMs: 7_000, label: "SIGTERM to app" },
  ]);
});

test("the timeline shows only when the Pod was withdrawn if the manager was not notified of the withdrawal", () => {
  const notNotified = {
    ...POD_END_WITH_RELAY,
    summary: { ...requireSummary(POD_END), relay: "unknown: no answer", withdrawnAfterMs: -1 },
  };
  const { lanes, marks } = timelineOf(notNotified);
  expect(lanes.map((lane) => lane.label)).not.toContain("lastcall: before withdrawal");
  expect(marks.map((mark) => mark.label)).toEqual([
    "deleted",
    "Pod is withdrawn from EndpointSlices",
    "SIGTERM to app",
    "SIGTERM to lastcall",
    "gone",
  ]);
});

test("a withdrawal before the trigger is marked at the trigger", () => {
  const earlyWithdrawal = {
    ...POD_END_WITH_RELAY,
    slicesWithdrawnMs: 100_100,
    summary: { ...requireSummary(POD_END_WITH_RELAY), withdrawnAfterMs: 0 },
  };
  const { lanes, marks } = timelineOf(earlyWithdrawal);
  expect(marks).toContainEqual({ atMs: 200, label: "lastcall is notified of the withdrawal" });
  expect(lanes.map((lane) => lane.label)).not.toContain("lastcall: before withdrawal");
});

test("the timeline as text and as SVG image shows the withdrawal without truncated labels", () => {
  const timeline = timelineOf(POD_END_WITH_RELAY);
  const lines = timelineText(timeline, 100).join("\n");
  const svg = timelineSvg(timeline);
  for (const label of [
    "EndpointSlices list the Pod",
    "lastcall: before withdrawal",
    "1.02 s  lastcall is notified of the withdrawal",
  ]) {
    expect(lines).toContain(label);
    expect(svg).toContain(label);
  }
});

test("the timeline as text has one row for each lane and mark, and no row exceeds the width", () => {
  const timeline = timelineOf(POD_END);
  const lines = timelineText(timeline, 90);
  expect(lines.length).toBe(2 + timeline.lanes.length + timeline.marks.length);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(90);
  expect(lines.join("\n")).toContain("7.00 s  SIGTERM to app");
  const phase = lines.find((line) => line.startsWith("lastcall: draining")) ?? "";
  // The phase lasts from 5 s to 7 s on a scale from -1 s to 7.61 s.
  expect(phase.indexOf("█") / phase.length).toBeGreaterThan(0.7);
});

test("overlapping connections are merged in the timeline into spans that cover the same time", () => {
  const span = fc.tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 30 }));
  fc.assert(
    fc.property(fc.array(span), (pairs) => {
      const spans = pairs.map(([fromMs, length]) => ({ fromMs, toMs: fromMs + length }));
      const result = mergeSpans(spans);
      for (let at = 0; at < 130; at++) {
        const covered = (list: typeof spans) => list.some((span) => span.fromMs <= at && at <= span.toMs);
        expect(covered(result)).toBe(covered(spans));
      }
      for (const [index, one] of result.slice(1).entries())
        expect(one.fromMs).toBeGreaterThan(result[index]?.toMs ?? 0);
    }),
  );
});

test("the timeline as SVG image has every lane and escapes names", () => {
  const svg = timelineSvg(timelineOf({ ...POD_END, pod: "a<b>&c" }));
  expect(svg).toContain("Shutdown of Pod a&lt;b&gt;&amp;c");
  for (const lane of timelineOf(POD_END).lanes) expect(svg).toContain(lane.label);
  expect(svg.startsWith("<svg ")).toBe(true);
});
