/** Formats log lines as JSON, without a time: the container runtime adds the time. */
import type { DrainOutcome, DrainReport, DrainTrigger, PhaseName } from "../contract/drain-report.ts";

export type Log = (line: string) => void;

export type LogSource = { readonly pod: string; readonly namespace: string };

export function messageLine(source: LogSource, level: "info" | "warn", message: string, detail: string): string {
  return JSON.stringify({ level, message, detail, pod: source.pod, namespace: source.namespace });
}

type PhaseEntry = {
  readonly phase: PhaseName;
  readonly outcome: DrainOutcome;
  readonly trigger: DrainTrigger;
  readonly sinceTriggerMs: number;
  readonly heldHooks: readonly string[];
};

export function phaseLine(source: LogSource, entry: PhaseEntry): string {
  return JSON.stringify({
    level: "info",
    message: "drain phase",
    phase: entry.phase,
    outcome: entry.outcome,
    trigger: entry.trigger,
    sinceTriggerMs: Math.round(entry.sinceTriggerMs),
    held: entry.heldHooks.join(","),
    pod: source.pod,
    namespace: source.namespace,
  });
}

export function reportLine(source: LogSource, report: DrainReport): string {
  return JSON.stringify({
    level: "info",
    message: "drain report",
    report,
    pod: source.pod,
    namespace: source.namespace,
  });
}
