import { expect, test } from "vitest";
import { createRequestCounter, type Tally } from "../../src/demo/load/load.ts";
import { drainSummary } from "../../src/demo/report/pod-end.ts";
import { verdictOf } from "../../src/demo/report/verdict.ts";

function tally(requests: number, failed: number): Tally {
  const counter = createRequestCounter();
  for (let i = 0; i < requests; i++) counter.count("pooled", i < failed ? "reset" : undefined);
  return counter.tally();
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

test("no failure with lastcall and some without is a success that says how many", () => {
  const verdict = verdictOf({ without: tally(50, 7), with: tally(60, 0), summaries: [], propagationMs: 2_000 });
  expect(verdict.status).toBe(0);
  expect(verdict.sentence).toContain("7 of 50");
});

test("a failure with lastcall is a failure that names the clients that stayed", () => {
  const summary = drainSummary([JSON.stringify(REPORT)]);
  if (summary === undefined) throw new Error("the report was not found");
  const verdict = verdictOf({ without: tally(9, 9), with: tally(9, 1), summaries: [summary], propagationMs: 2_000 });
  expect(verdict).toEqual({ status: 1, sentence: `1 request failed with lastcall. ${REPORT.why}` });
});

test("when nothing answers in either run the app is asked about, not lastcall", () => {
  const verdict = verdictOf({ without: tally(9, 9), with: tally(9, 9), summaries: [], propagationMs: 2_000 });
  expect(verdict.status).toBe(1);
  expect(verdict.sentence).toContain("Every request failed in both updates");
});

test("clients that stayed to the deadline are named even when they lost nothing", () => {
  const summary = drainSummary([JSON.stringify(REPORT)]);
  if (summary === undefined) throw new Error("the report was not found");
  const verdict = verdictOf({ without: tally(9, 9), with: tally(9, 0), summaries: [summary], propagationMs: 2_000 });
  expect(verdict.status).toBe(0);
  expect(verdict.sentence).toContain(REPORT.why);
});

test("a run without any loss shows nothing, unless the proxy learns at once", () => {
  const evidence = { without: tally(9, 0), with: tally(9, 0), summaries: [], propagationMs: 2_000 };
  expect(verdictOf(evidence).status).toBe(1);
  expect(verdictOf({ ...evidence, propagationMs: 0 }).status).toBe(0);
  expect(verdictOf({ ...evidence, with: tally(0, 0), propagationMs: 0 }).status).toBe(1);
});

test("failures are counted by kind and by client", () => {
  const counter = createRequestCounter();
  counter.count("slow", "refused");
  counter.count("slow", undefined);
  counter.count("pooled", "closed-unanswered");
  const counted = counter.tally();
  expect(counted).toMatchObject({ requests: 3, failed: 2, kinds: { refused: 1, "closed-unanswered": 1, reset: 0 } });
  expect(counted.clients.slow).toEqual({ requests: 2, failed: 1 });
});

test("the report is found on its own line or inside one, the last one wins, other lines are passed over", () => {
  const lines = [
    "not JSON",
    "{broken",
    JSON.stringify({ ...REPORT, outcome: "restarted" }),
    JSON.stringify({ level: "info", report: REPORT }),
    JSON.stringify({ msg: "released" }),
    JSON.stringify({ ...REPORT, outcome: "none" }),
  ];
  expect(drainSummary(lines)?.outcome).toBe("timeout");
  expect(drainSummary(lines.slice(0, 2))).toBeUndefined();
});
