/** What the words of a report mean, for people. Pure. */
import type { DrainTrigger, PreloadReport } from "../contract/drain-report.ts";
import type { RecordedOutcome, RecordedReport } from "./drain-record.ts";

/** Each continues "Pod web-1 …". */
export const OUTCOME_WORDS: Readonly<Record<RecordedOutcome, string>> = {
  none: "is still draining",
  drained: "drained",
  blind: "was released without being able to see its traffic",
  timeout: "ran into its drain deadline",
  "not-needed": "had nothing to drain",
  restarted: "was taken for a restart of its containers, so nothing was drained",
  forced: "was stopped before its drain was over",
  lost: "lost its manager in the middle of its drain",
};

/** Drains that ended with work that may be lost. */
export function isIncomplete(outcome: RecordedOutcome): boolean {
  return outcome === "blind" || outcome === "timeout" || outcome === "forced" || outcome === "lost";
}

/** Each continues "told by …". */
export const TRIGGER_WORDS: Readonly<Record<DrainTrigger, string>> = {
  none: "nothing",
  hook: "the manager's preStop hook",
  relay: "the relay, which saw the Pod being deleted",
  sigterm: "SIGTERM",
};

const RELAY_WORDS: ReadonlyMap<string, string> = new Map([
  ["none", "none, or it was not asked"],
  ["withdrawn", "no EndpointSlice offered the Pod any more"],
  ["offered", "EndpointSlices still offered the Pod"],
  ["still_in_rotation", "no EndpointSlice said that the Pod ends: its kubelet stopped it alone"],
]);

/** What the relay knew when the withdrawing ended; words that are not ours pass as they are. */
export function relayWords(relay: string): string {
  return RELAY_WORDS.get(relay) ?? relay;
}

/** What became of the clients that the app's own answers were to send away. */
export function preloadText({ processes, missed = 0, connections }: PreloadReport): string {
  const unreached = missed === 0 ? "" : `; ${missed} more could not be reached`;
  if (processes === 0) return `no process has loaded the library${unreached}`;
  const loaded = processes === 1 ? "1 process has" : `${processes} processes have`;
  const told = connections < 0 ? "none was told yet, as far as is known" : `${connections} connections were open then`;
  return `${loaded} loaded the library${unreached}; ${told}`;
}

/** Milliseconds from the trigger to the release of the app's hooks. */
export function releaseMs({ milliseconds }: RecordedReport): number {
  return milliseconds.withdrawing + milliseconds.deregistration + milliseconds.draining;
}

/** Milliseconds from the trigger to the end. */
export function wholeMs(report: RecordedReport): number {
  return releaseMs(report) + report.milliseconds.holding;
}
