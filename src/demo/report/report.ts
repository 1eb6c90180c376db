/** Formats the demo's result as text and as JSON. Pure. */
import type { DrainReport } from "../../contract/drain-report.ts";
import { resetsSentence } from "../../drain-history/report-text.ts";
import { FAILURE_KINDS } from "../load/http-client.ts";
import type { RequestCounts } from "../load/load.ts";
import { type Comparison, SLEEP_SECONDS } from "./comparison.ts";
import { type EndedPod, notifiedAfterMs, type PodEnd, type VariantResult } from "./pod-end.ts";
import { secondsText, timelineOf, timelineText } from "./timeline.ts";

type DemoResult = {
  readonly without: VariantResult;
  readonly sleep?: VariantResult | undefined;
  readonly with: VariantResult;
  readonly comparison: Comparison;
};

export function reportLines(result: DemoResult, width: number): string[] {
  const drawnPod = longestDrain(result.with.endedPods);
  return [
    ...failureTable(tableRows(result)),
    "",
    ...drainTimeLines(result.with.endedPods),
    "",
    ...(drawnPod === undefined ? [] : [...timelineText(timelineOf(drawnPod), width), ""]),
    result.comparison.sentence,
  ];
}

export function longestDrain(endedPods: readonly EndedPod[]): EndedPod | undefined {
  return endedPods.toSorted((a, b) => b.drainSeconds - a.drainSeconds)[0];
}

export function resultJson({ without, sleep, with: withLastcall, comparison }: DemoResult, facts: object): string {
  const { requests, failed, kinds, clients } = withLastcall.counts;
  return JSON.stringify({
    without: without.counts,
    ...(sleep === undefined ? {} : { sleep: { ...sleep.counts, drainSeconds: sleep.endedPods.map(drainSecondsOf) } }),
    with: {
      requests,
      failed,
      drainSeconds: withLastcall.endedPods.map(drainSecondsOf),
      kinds,
      clients,
      drains: withLastcall.endedPods.map((end) => ({ pod: end.pod, ...end.summary, withdrawal: withdrawalOf(end) })),
    },
    ...facts,
    ok: comparison.exitStatus === 0,
    result: comparison.sentence,
  });
}

/** Seconds since the deletion; null for an event that did not happen. */
function withdrawalOf(end: EndedPod): object {
  const secondsOf = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms) / 1_000);
  const { slicesWithdrawnMs: ms, deletedMs } = end;
  return {
    slicesSeconds: secondsOf(ms === undefined ? ms : ms - deletedMs),
    learnedSeconds: secondsOf(notifiedAfterMs(end)),
  };
}

function drainSecondsOf({ drainSeconds }: EndedPod): number {
  return drainSeconds;
}

type TableRow = {
  readonly name: string;
  readonly counts: RequestCounts;
  /** Time from the deletion to the stop signal, of each Pod. The table shows the longest of them. */
  readonly drainSeconds: readonly number[];
};

function tableRows({ without, sleep, with: withLastcall }: DemoResult): readonly TableRow[] {
  const rowOf = (name: string, { counts, endedPods }: VariantResult) => ({
    name,
    counts,
    drainSeconds: endedPods.map(drainSecondsOf),
  });
  return [
    rowOf("without lastcall", without),
    ...(sleep === undefined ? [] : [rowOf(`preStop: sleep ${SLEEP_SECONDS}`, sleep)]),
    rowOf("with lastcall", withLastcall),
  ];
}

/** Omits kinds of failure that did not occur, because a table with all columns would be wider than a terminal. */
export function failureTable(rows: readonly TableRow[]): string[] {
  const kinds = FAILURE_KINDS.filter((kind) => rows.some(({ counts }) => counts.kinds[kind] > 0));
  const header = ["", "stop after", "requests", "failed", ...kinds];
  const cellRows = rows.map(({ name, counts, drainSeconds }) => [
    name,
    `${Math.max(0, ...drainSeconds).toFixed(1)} s`,
    ...[counts.requests, counts.failed, ...kinds.map((kind) => counts.kinds[kind])].map(String),
  ]);
  return [header, ...cellRows].map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(17) : cell.padStart((header[at] ?? "").length + 2))).join(""),
  );
}

const PHASES: readonly (keyof DrainReport["milliseconds"])[] = ["withdrawing", "deregistration", "draining", "holding"];

/** Shorter parts would be shown as 0.0 s. */
const SHORTEST_SHOWN_MS = 50;

export function drainTimeLines(endedPods: readonly EndedPod[]): string[] {
  const lines = ["Time from each Pod's deletion to its app's stop signal:"];
  for (const end of endedPods) {
    const { summary, drainSeconds } = end;
    const spans = PHASES.map((phase) => ({ label: `${phase}`, ms: summary?.milliseconds[phase] ?? 0 }));
    const otherMs = drainSeconds * 1_000 - spans.reduce((sum, { ms }) => sum + ms, 0);
    const parts =
      summary === undefined
        ? []
        : [...spans, { label: "start of the preStop hooks and stop of the containers", ms: otherMs }];
    const phases = parts
      .filter(({ ms }) => ms >= SHORTEST_SHOWN_MS)
      .map(({ label, ms }) => `${label} ${(ms / 1_000).toFixed(1)} s`)
      .join(", ");
    lines.push(`  ${end.pod}  ${drainSeconds.toFixed(1)} s${phases === "" ? "" : ` = ${phases}`}`);
    if (summary !== undefined) lines.push(`    ${summary.outcome}: ${summary.why}`);
    const withdrawal = withdrawalText(end);
    if (withdrawal !== "") lines.push(`    ${withdrawal}`);
    if (summary?.resets !== undefined) lines.push(`    ${resetsSentence(end.pod, summary.resets)}`);
  }
  return lines;
}

/** Times are counted from the deletion. @returns an empty string without EndpointSlices */
export function withdrawalText(end: PodEnd): string {
  const { summary, slicesWithdrawnMs } = end;
  if (summary === undefined || slicesWithdrawnMs === undefined) return "";
  const withdrawnMs = slicesWithdrawnMs - end.deletedMs;
  const withdrawalSentence = `The Pod was withdrawn from its EndpointSlices after ${secondsText(withdrawnMs)}`;
  const notifiedMs = notifiedAfterMs(end);
  if (notifiedMs === undefined) {
    const reason = NOT_NOTIFIED.get(summary.relay) ?? summary.relay.replace(/^unknown: */, "").replace(/\.$/, "");
    return `${withdrawalSentence}; its manager was not notified: ${reason}.`;
  }
  const startMs = end.triggeredMs - end.deletedMs;
  // Managers contact the relay only after a hook has started their drain.
  const sinceStartText = startMs > withdrawnMs ? `, ${sinceStart(notifiedMs - startMs)}` : "";
  return `${withdrawalSentence}; its manager was notified after ${secondsText(notifiedMs)}${sinceStartText}.`;
}

function sinceStart(ms: number): string {
  return ms < 10 ? "as soon as its drain started" : `${secondsText(ms)} after its drain started`;
}

const NOT_NOTIFIED: ReadonlyMap<string, string> = new Map([
  ["", "its report has no relay status"],
  ["none", "it did not contact the relay"],
  ["offered", "its drain reached the deadline before the withdrawal"],
  ["not_terminating", "no EndpointSlice marked the Pod as terminating"],
]);
