/** The drain report in what a manager printed. Pure. */
import type { DrainReport, OpenConnection } from "../../contract/drain-report.ts";
import { listAt, numberAt, objectAt, textAt } from "../json.ts";

export type DrainSummary = {
  readonly outcome: string;
  readonly trigger: string;
  readonly milliseconds: DrainReport["milliseconds"];
  readonly left: readonly Pick<OpenConnection, "local" | "peer" | "ageMs">[];
  readonly leftTotal: number;
  readonly witness: string;
  readonly why: string;
  /** What the manager knew of the withdrawal, as `relay` in the report; empty when it says nothing. */
  readonly relay: string;
  /** From the trigger, milliseconds; -1 when the manager never knew its Pod out of rotation. */
  readonly withdrawnAfterMs: number;
};

/** A line that was printed, on the clock of the demo. */
type ToldLine = { readonly atMs: number; readonly detail: string };

/** When the manager took the Pod's end as certain, on the clock of the demo; `undefined` when it never did. */
export function triggeredMs(lines: readonly ToldLine[]): number | undefined {
  for (const { atMs, detail } of lines) {
    const said = detail.startsWith("{") ? parsed(detail) : undefined;
    const sinceMs = numberAt(said, "sinceTriggerMs");
    if (textAt(said, "phase") === "withdrawing" && sinceMs !== undefined) return atMs - sinceMs;
  }
  return undefined;
}

/** The last line that tells an outcome, or undefined. Lines of any other kind are passed over. */
export function drainSummary(lines: readonly string[]): DrainSummary | undefined {
  for (const line of [...lines].reverse()) {
    const report = reportIn(line);
    if (report !== undefined) return report;
  }
  return undefined;
}

function reportIn(line: string): DrainSummary | undefined {
  if (!line.startsWith("{")) return undefined;
  const said = parsed(line);
  const report = textAt(said, "report", "outcome") === undefined ? said : objectAt(said, "report");
  const outcome = textAt(report, "outcome");
  const spans = objectAt(report, "milliseconds");
  if (outcome === undefined || outcome === "none" || !("draining" in spans)) return undefined;
  return {
    outcome,
    trigger: textAt(report, "trigger") ?? "",
    milliseconds: {
      withdrawing: numberAt(spans, "withdrawing") ?? 0,
      deregistration: numberAt(spans, "deregistration") ?? 0,
      draining: numberAt(spans, "draining") ?? 0,
      holding: numberAt(spans, "holding") ?? 0,
    },
    left: listAt(report, "left").map((open) => ({
      local: textAt(open, "local") ?? "",
      peer: textAt(open, "peer") ?? "",
      ageMs: numberAt(open, "ageMs") ?? 0,
    })),
    leftTotal: numberAt(report, "leftTotal") ?? 0,
    witness: textAt(report, "witness") ?? "",
    why: textAt(report, "why") ?? "",
    relay: textAt(report, "relay") ?? "",
    withdrawnAfterMs: numberAt(report, "withdrawnAfterMs") ?? -1,
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
