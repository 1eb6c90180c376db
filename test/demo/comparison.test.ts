import { expect, test } from "vitest";
import { createRequestCounter, type RequestCounts } from "../../src/demo/load/load.ts";
import { compareRuns } from "../../src/demo/report/comparison.ts";
import { lastDrainSummary } from "../../src/demo/report/pod-end.ts";

function counts(requests: number, failed: number): RequestCounts {
  const counter = createRequestCounter();
  for (let i = 0; i < requests; i++) counter.count("pooled", i < failed ? "reset" : undefined);
  return counter.counts();
}

const REPORT = {
  version: 1,
  phase: "done",
  outcome: "timeout",
  trigger: "hook",
  milliseconds: { withdrawing: 5_000, deregistration: 0, draining: 8_000, holding: 0 },
  left: [{ local: "10.0.0.9:8080", peer: "10.0.0.7:40000", ageMs: 9_000, state: "ESTABLISHED" }],
  leftTotal: 1,
  evidenceSource: "netlink",
  why: "The deadline came with 1 connection still open: 10.0.0.7:40000 to port 8080.",
};

test("the demo succeeds and reports both counts if requests fail only without lastcall", () => {
  const comparison = compareRuns({ without: counts(50, 7), with: counts(60, 0), summaries: [], propagationMs: 2_000 });
  expect(comparison.exitStatus).toBe(0);
  expect(comparison.sentence).toContain("7 of 50");
});

test("the demo fails if a request with lastcall fails, and the message lists clients connected at the deadline", () => {
  const summary = lastDrainSummary([JSON.stringify(REPORT)]);
  if (summary === undefined) throw new Error("the report was not found");
  const comparison = compareRuns({
    without: counts(9, 9),
    with: counts(9, 1),
    summaries: [summary],
    propagationMs: 2_000,
  });
  expect(comparison).toEqual({ exitStatus: 1, sentence: `1 request failed with lastcall. ${REPORT.why}` });
});

test.for(["timeout", "handed-over"])("the demo's message has the reason of a drain with the outcome %s", (outcome) => {
  const summary = lastDrainSummary([JSON.stringify({ ...REPORT, outcome })]);
  if (summary === undefined) throw new Error("the report was not found");
  const runs = { without: counts(9, 9), with: counts(9, 1), summaries: [summary], propagationMs: 2_000 };
  expect(compareRuns(runs).sentence).toBe(`1 request failed with lastcall. ${REPORT.why}`);
});

test("the demo's message has the failed requests of the update with preStop: sleep, if that update ran", () => {
  const runs = { without: counts(9, 9), with: counts(9, 0), summaries: [], propagationMs: 2_000 };
  expect(compareRuns({ ...runs, sleep: counts(8, 2) }).sentence).toBe(
    "A rolling update lost 9 of 9 requests without lastcall and none of 9 with it. The update with preStop: sleep 5 lost 2 of 8 requests.",
  );
  expect(compareRuns(runs).sentence).not.toContain("sleep");
});

test("the demo fails if all requests fail in both updates, and the message reports that every request failed", () => {
  const comparison = compareRuns({ without: counts(9, 9), with: counts(9, 9), summaries: [], propagationMs: 2_000 });
  expect(comparison.exitStatus).toBe(1);
  expect(comparison.sentence).toContain("Every request failed in both updates");
});

test("the demo's message lists clients connected at the deadline even if no request failed", () => {
  const summary = lastDrainSummary([JSON.stringify(REPORT)]);
  if (summary === undefined) throw new Error("the report was not found");
  const comparison = compareRuns({
    without: counts(9, 9),
    with: counts(9, 0),
    summaries: [summary],
    propagationMs: 2_000,
  });
  expect(comparison.exitStatus).toBe(0);
  expect(comparison.sentence).toContain(REPORT.why);
});

test("the demo fails if no request fails without lastcall, unless the propagation delay is 0", () => {
  const runs = { without: counts(9, 0), with: counts(9, 0), summaries: [], propagationMs: 2_000 };
  expect(compareRuns(runs).exitStatus).toBe(1);
  expect(compareRuns({ ...runs, propagationMs: 0 }).exitStatus).toBe(0);
  expect(compareRuns({ ...runs, with: counts(0, 0), propagationMs: 0 }).exitStatus).toBe(1);
});

test("failed requests are counted by kind and by client", () => {
  const counter = createRequestCounter();
  counter.count("slow", "refused");
  counter.count("slow", undefined);
  counter.count("pooled", "closed-unanswered");
  const counted = counter.counts();
  expect(counted).toMatchObject({ requests: 3, failed: 2, kinds: { refused: 1, "closed-unanswered": 1, reset: 0 } });
  expect(counted.clients.slow).toEqual({ requests: 2, failed: 1 });
});

test("the last drain report in a log is read, as a separate line or inside a log line", () => {
  const lines = [
    "not JSON",
    "{broken",
    JSON.stringify({ ...REPORT, outcome: "restarted" }),
    JSON.stringify({ level: "info", report: REPORT }),
    JSON.stringify({ msg: "released" }),
    JSON.stringify({ ...REPORT, outcome: "none" }),
  ];
  expect(lastDrainSummary(lines)?.outcome).toBe("timeout");
  expect(lastDrainSummary(lines.slice(0, 2))).toBeUndefined();
});
