/** The result of the demo as text and as JSON. Pure. */
import type { DrainReport } from "../../contract/drain-report.ts";
import { FAILURE_KINDS } from "../load/http-client.ts";
import type { Tally } from "../load/load.ts";
import { type EndedPod, learnedAfterMs, type PodEnd, type VariantResult } from "./pod-end.ts";
import { secondsText, timelineOf, timelineText } from "./timeline.ts";
import type { Verdict } from "./verdict.ts";

type DemoResult = {
  readonly without: VariantResult;
  readonly with: VariantResult;
  readonly verdict: Verdict;
};

export function reportLines(result: DemoResult, width: number): string[] {
  const shown = worstEnd(result.with.ended);
  return [
    ...failureTable(result.without.tally, result.with.tally),
    "",
    ...timeSpent(result.with.ended),
    "",
    ...(shown === undefined ? [] : [...timelineText(timelineOf(shown), width), ""]),
    result.verdict.sentence,
  ];
}

/** The Pod with the longest drain. */
export function worstEnd(ended: readonly EndedPod[]): EndedPod | undefined {
  return ended.toSorted((a, b) => b.drainSeconds - a.drainSeconds)[0];
}

export function resultJson({ without, with: withLastcall, verdict }: DemoResult, facts: object): string {
  const { requests, failed, kinds, clients } = withLastcall.tally;
  return JSON.stringify({
    without: without.tally,
    with: {
      requests,
      failed,
      drainSeconds: withLastcall.ended.map((end) => end.drainSeconds),
      kinds,
      clients,
      drains: withLastcall.ended.map((end) => ({ pod: end.pod, ...end.summary, withdrawal: withdrawalOf(end) })),
    },
    ...facts,
    ok: verdict.status === 0,
    verdict: verdict.sentence,
  });
}

/** Seconds since the deletion; null where there was no withdrawal. */
function withdrawalOf(end: EndedPod): object {
  const secondsOf = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms) / 1_000);
  const { slicesWithdrawnMs: ms, deletedMs } = end;
  return {
    slicesSeconds: secondsOf(ms === undefined ? ms : ms - deletedMs),
    learnedSeconds: secondsOf(learnedAfterMs(end)),
  };
}

/** Leaves out kinds of failure that did not happen: all of them are wider than a terminal. */
export function failureTable(without: Tally, withLastcall: Tally): string[] {
  const rows = [
    { name: "without lastcall", tally: without },
    { name: "with lastcall", tally: withLastcall },
  ];
  const kinds = FAILURE_KINDS.filter((kind) => rows.some(({ tally }) => tally.kinds[kind] > 0));
  const head = ["", "requests", "failed", ...kinds];
  const cells = rows.map(({ name, tally }) => [
    name,
    ...[tally.requests, tally.failed, ...kinds.map((kind) => tally.kinds[kind])].map(String),
  ]);
  return [head, ...cells].map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(17) : cell.padStart((head[at] ?? "").length + 2))).join(""),
  );
}

const PHASES: readonly (keyof DrainReport["milliseconds"])[] = ["withdrawing", "deregistration", "draining", "holding"];

/** Shorter than one decimal can show. */
const INVISIBLE_MS = 50;

export function timeSpent(ended: readonly EndedPod[]): string[] {
  const lines = ["Where the time went, from each deletion to the app's stop signal:"];
  for (const end of ended) {
    const { summary, drainSeconds } = end;
    const spans = PHASES.map((phase) => ({ what: `${phase}`, ms: summary?.milliseconds[phase] ?? 0 }));
    const rest = drainSeconds * 1_000 - spans.reduce((sum, { ms }) => sum + ms, 0);
    const parts = summary === undefined ? [] : [...spans, { what: "starting hooks and stopping", ms: rest }];
    const phases = parts
      .filter(({ ms }) => ms >= INVISIBLE_MS)
      .map(({ what, ms }) => `${what} ${(ms / 1_000).toFixed(1)} s`)
      .join(", ");
    lines.push(`  ${end.pod}  ${drainSeconds.toFixed(1)} s${phases === "" ? "" : ` = ${phases}`}`);
    if (summary !== undefined) lines.push(`    ${summary.outcome}: ${summary.why}`);
    const withdrawal = withdrawalText(end);
    if (withdrawal !== "") lines.push(`    ${withdrawal}`);
  }
  return lines;
}

/** One sentence with times since the deletion; empty where there are no EndpointSlices. */
export function withdrawalText(end: PodEnd): string {
  const { summary, slicesWithdrawnMs } = end;
  if (summary === undefined || slicesWithdrawnMs === undefined) return "";
  const withdrawnMs = slicesWithdrawnMs - end.deletedMs;
  const withdrew = `EndpointSlices withdrew it after ${secondsText(withdrawnMs)}`;
  const learnedMs = learnedAfterMs(end);
  if (learnedMs === undefined) {
    const why = UNSEEN.get(summary.relay) ?? summary.relay.replace(/^unknown: */, "").replace(/\.$/, "");
    return `${withdrew}; its manager did not learn that: ${why}.`;
  }
  const startMs = end.triggeredMs - end.deletedMs;
  // A manager cannot see the withdrawal before a hook has started its drain.
  const late = startMs > withdrawnMs ? `, ${sinceStart(learnedMs - startMs)}` : "";
  return `${withdrew}; its manager learned that after ${secondsText(learnedMs)}${late}.`;
}

function sinceStart(ms: number): string {
  return ms < 10 ? "as soon as its drain began" : `${secondsText(ms)} after its drain had begun`;
}

const UNSEEN: ReadonlyMap<string, string> = new Map([
  ["", "it told nothing of the relay"],
  ["none", "it did not ask the relay"],
  ["offered", "the deadline came first"],
  ["still_in_rotation", "the slices it saw never said that the Pod ends"],
]);
