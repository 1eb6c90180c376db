import { expect, test } from "vitest";
import { lastDrainSummary, triggeredMs } from "../../src/demo/report/pod-end.ts";

const REPORT = {
  version: 1,
  phase: "done",
  outcome: "drained",
  trigger: "hook",
  milliseconds: { withdrawing: 5_000, deregistration: 0, draining: 100, holding: 0 },
  left: [],
  leftTotal: 0,
  evidenceSource: "netlink",
  why: "Released.",
};
const reportLine = (report: object) => JSON.stringify({ level: "info", message: "drain report", report });
const phaseLine = (phase: string, sinceTriggerMs: number) =>
  JSON.stringify({ message: "drain phase", phase, sinceTriggerMs });

test("the relay's status and the time of the withdrawal are read from the drain report", () => {
  const report = { ...REPORT, relay: "withdrawn", withdrawnAfterMs: 1_020 };
  expect(lastDrainSummary([reportLine(report)])).toMatchObject({ relay: "withdrawn", withdrawnAfterMs: 1_020 });
});

test("a report without a relay status does not have a time of withdrawal", () => {
  expect(lastDrainSummary([reportLine(REPORT)])).toMatchObject({ relay: "", withdrawnAfterMs: -1 });
});

test("the time of the trigger is computed from the log line of the phase withdrawing", () => {
  const lines = [
    { atMs: 90, detail: "{ no JSON" },
    { atMs: 95, detail: phaseLine("idle", 0) },
    { atMs: 110, detail: phaseLine("withdrawing", 7) },
    { atMs: 5_110, detail: phaseLine("draining", 5_000) },
  ];
  expect(triggeredMs(lines)).toBe(103);
  expect(triggeredMs(lines.slice(0, 2))).toBeUndefined();
});
