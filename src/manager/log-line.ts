/** Formats log lines as JSON, without a time: the container runtime adds the time. */
import type { DrainOutcome, DrainReport, DrainTrigger, PhaseName } from "../contract/drain-report.ts";

export type Log = (line: string) => void;

export type LogSource = { readonly pod: string; readonly namespace: string };

export function messageLine(speaker: LogSource, level: "info" | "warn", message: string, detail: string): string {
  return JSON.stringify({ level, message, detail, pod: speaker.pod, namespace: speaker.namespace });
}

type PhaseEntry = {
  readonly phase: PhaseName;
  readonly outcome: DrainOutcome;
  readonly trigger: DrainTrigger;
  readonly sinceTriggerMs: number;
  readonly held: readonly string[];
};

export function phaseLine(speaker: LogSource, news: PhaseEntry): string {
  return JSON.stringify({
    level: "info",
    message: "drain phase",
    phase: news.phase,
    outcome: news.outcome,
    trigger: news.trigger,
    sinceTriggerMs: Math.round(news.sinceTriggerMs),
    held: news.held.join(","),
    pod: speaker.pod,
    namespace: speaker.namespace,
  });
}

export function reportLine(speaker: LogSource, report: DrainReport): string {
  return JSON.stringify({
    level: "info",
    message: "drain report",
    report,
    pod: speaker.pod,
    namespace: speaker.namespace,
  });
}
