/** Creates example drain records and reports, with optional changes. */
import type { DrainReport } from "../../src/contract/drain-report.ts";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";

export const CLIENT = { local: "10.0.0.5:8080", peer: "10.0.0.9:41822", ageMs: 52_340, state: "ESTABLISHED" };

export function someReport(changes: Partial<DrainReport> = {}): DrainReport {
  return {
    version: 1,
    phase: "done",
    outcome: "drained",
    trigger: "hook",
    milliseconds: { withdrawing: 5_010, deregistration: 0, draining: 2_240, holding: 0 },
    left: [],
    leftTotal: 0,
    evidenceSource: "netlink",
    why: "Released 7.3s after the trigger: no traffic since the trigger.",
    ...changes,
  };
}

export function runningReport(changes: Partial<DrainReport> = {}): DrainReport {
  return someReport({
    phase: "draining",
    outcome: "none",
    milliseconds: { withdrawing: 5_010, deregistration: 0, draining: 4_990, holding: 0 },
    left: [CLIENT],
    leftTotal: 1,
    remainingMs: 55_000,
    why: "Still draining, for at most 55s more, with 1 connection still open: 10.0.0.9:41822 to port 8080 for 52.3s.",
    ...changes,
  });
}

export function someDrain(changes: Partial<DrainRecord> = {}): DrainRecord {
  return {
    id: "0123456789abcdef",
    namespace: "shop",
    pod: "web-7d9f-abcde",
    uid: "6f1c0f0e-0000-4000-8000-000000000001",
    ownerKind: "ReplicaSet",
    ownerName: "web-7d9f",
    endedAtMs: 1_795_000_000_000,
    report: someReport(),
    ...changes,
  };
}
