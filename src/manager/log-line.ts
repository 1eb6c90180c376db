/** One JSON line per thing worth telling; the container runtime adds the time. */
import type { DrainReport } from "../contract/drain-report.ts";

export type Log = (line: string) => void;

/** Who is speaking, for logs that gather many Pods. */
export type Speaker = { readonly pod: string; readonly namespace: string };

export function noteLine(speaker: Speaker, level: "info" | "warn", message: string, detail: string): string {
  return JSON.stringify({ level, message, detail, pod: speaker.pod, namespace: speaker.namespace });
}

/** @param held containers whose hooks wait for an answer */
export function phaseLine(
  speaker: Speaker,
  report: DrainReport,
  sinceTriggerMs: number,
  held: readonly string[],
): string {
  return JSON.stringify({
    level: "info",
    message: "drain phase",
    phase: report.phase,
    outcome: report.outcome,
    trigger: report.trigger,
    sinceTriggerMs: Math.round(sinceTriggerMs),
    held: held.join(","),
    pod: speaker.pod,
    namespace: speaker.namespace,
  });
}

export function reportLine(speaker: Speaker, report: DrainReport): string {
  return JSON.stringify({
    level: "info",
    message: "drain report",
    report,
    pod: speaker.pod,
    namespace: speaker.namespace,
  });
}
