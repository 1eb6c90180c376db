/** Translates the identifiers of a drain report to display text. Pure. */
import type { DrainTrigger, PreloadReport, ResetsReport } from "../contract/drain-report.ts";
import type { RecordedOutcome, RecordedReport } from "./drain-record.ts";

/** Each text continues a sentence that starts with "Pod web-1". */
export const OUTCOME_TEXT: Readonly<Record<RecordedOutcome, string>> = {
  none: "is still draining",
  drained: "drained",
  "handed-over": "ended its drain while clients kept sending requests",
  blind: "ended its drain without visibility of its traffic",
  timeout: "reached its drain deadline",
  "not-needed": "had nothing to drain",
  restarted: "was not drained, because only its containers restarted",
  forced: "was stopped before its drain ended",
  lost: "disappeared before its drain was reported",
};

/** The outcome, or the phase of a running drain. */
export function outcomeText({ outcome, phase }: RecordedReport): string {
  return outcome === "none" ? phase : outcome;
}

export function isIncomplete(outcome: RecordedOutcome): boolean {
  return outcome === "blind" || outcome === "timeout" || outcome === "forced" || outcome === "lost";
}

export const TRIGGER_TEXT: Readonly<Record<DrainTrigger, string>> = {
  none: "nothing",
  hook: "the manager's preStop hook",
  relay: "the relay, which observed the Pod's deletion",
  sigterm: "SIGTERM",
};

const RELAY_TEXT: ReadonlyMap<string, string> = new Map([
  ["none", "not used"],
  ["withdrawn", "no EndpointSlice had the Pod as a ready endpoint"],
  ["offered", "EndpointSlices still had the Pod as a ready endpoint"],
  [
    "not_terminating",
    "no EndpointSlice marked the Pod as terminating, because the kubelet stopped the Pod without a deletion",
  ],
]);

export function relayText(relay: string): string {
  return RELAY_TEXT.get(relay) ?? relay;
}

/** Describes the processes whose preload library sends `Connection: close`. */
export function connectionCloseText({ processes, missed = 0, connections }: PreloadReport): string {
  const unreachedText = missed === 0 ? "" : `; ${missed} more preloaded processes were not notified of the drain`;
  if (processes === 0) return `no process has loaded the preload library${unreachedText}`;
  const loadedText = processes === 1 ? "1 process has" : `${processes} processes have`;
  const openText =
    connections < 0 ? "connections not counted" : `${connections} connections were open when the drain started`;
  return `${loadedText} loaded the preload library${unreachedText}; ${openText}`;
}

/** Returns the number of connections without a verb, as the end of a sentence. */
export function resetsText({ stopping, probes }: ResetsReport): string {
  if (stopping === 0) return "0 connections";
  const connectionsText = stopping === 1 ? "at most 1 connection" : `at most ${stopping} connections`;
  if (probes === 0) return connectionsText;
  return `${connectionsText}, of which ${probes} may be ${probes === 1 ? "a probe" : "probes"} of the kubelet`;
}

export function resetsSentence(pod: string, resets: ResetsReport): string {
  return `When Pod ${pod} stopped, it cut or refused ${resetsText(resets)}.`;
}

/** Time from the trigger until the preStop hooks are answered. */
export function releaseMs({ milliseconds }: RecordedReport): number {
  return milliseconds.withdrawing + milliseconds.deregistration + milliseconds.draining;
}

export function totalMs(report: RecordedReport): number {
  return releaseMs(report) + report.milliseconds.holding;
}
