/** Texts for the values of a report. */
import type { DrainTrigger, PreloadReport } from "../contract/drain-report.ts";
import type { RecordedOutcome, RecordedReport } from "./drain-record.ts";

/** Follow "Pod web-1". */
export const OUTCOME_TEXTS: Readonly<Record<RecordedOutcome, string>> = {
  none: "is still draining",
  drained: "drained",
  blind: "was released without an observation of its traffic",
  timeout: "reached its drain timeout",
  "not-needed": "had nothing to drain",
  restarted: "was not drained, since its hooks indicated a container restart",
  forced: "was stopped before the end of its drain",
  lost: "lost its manager during the drain",
};

/** Outcomes with possibly lost requests. */
export function isIncomplete(outcome: RecordedOutcome): boolean {
  return outcome === "blind" || outcome === "timeout" || outcome === "forced" || outcome === "lost";
}

export const TRIGGER_TEXTS: Readonly<Record<DrainTrigger, string>> = {
  none: "nothing",
  hook: "the manager's preStop hook",
  relay: "the relay, which detected the deletion",
  sigterm: "SIGTERM",
};

const RELAY_TEXTS: ReadonlyMap<string, string> = new Map([
  ["none", "no relay, or no request"],
  ["withdrawn", "no EndpointSlice listed the Pod as serving"],
  ["offered", "EndpointSlices still listed the Pod as serving"],
  ["still_in_rotation", "EndpointSlices never showed the Pod as terminating: its kubelet stopped it alone"],
]);

/** The relay's status at the end of the withdrawing phase; other values are returned unchanged. */
export function relayText(relay: string): string {
  return RELAY_TEXTS.get(relay) ?? relay;
}

export function preloadText({ processes, missed = 0, connections }: PreloadReport): string {
  const unreached = missed === 0 ? "" : `; ${missed} more requested the flag page in vain`;
  if (processes === 0) return `no process has loaded the library${unreached}`;
  const loaded = processes === 1 ? "1 process has" : `${processes} processes have`;
  const open = connections < 0 ? "the flag is not set" : `${connections} connections were open when the flag was set`;
  return `${loaded} loaded the library${unreached}; ${open}`;
}

/** Milliseconds from the trigger to the release of the app's hooks. */
export function releaseMs({ milliseconds }: RecordedReport): number {
  return milliseconds.withdrawing + milliseconds.deregistration + milliseconds.draining;
}

/** Milliseconds from the trigger to the end. */
export function wholeMs(report: RecordedReport): number {
  return releaseMs(report) + report.milliseconds.holding;
}
