/** The demo's result as a person reads it, and as a program does. Pure. */
import type { DrainReport } from "../../contract/drain-report.ts";
import { FAILURE_KINDS } from "../load/http-client.ts";
import type { Tally } from "../load/request-tally.ts";
import type { EndedPod, VariantResult } from "./pod-end.ts";
import { timelineOf, timelineText } from "./timeline.ts";
import type { Verdict } from "./verdict.ts";
import { learnedAfterMs, withdrawalWords } from "./withdrawal.ts";

type DemoResult = {
  readonly without: VariantResult;
  readonly with: VariantResult;
  readonly verdict: Verdict;
};

export function storyLines(result: DemoResult, width: number): string[] {
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

/** The Pod whose end took longest says most. */
export function worstEnd(ended: readonly EndedPod[]): EndedPod | undefined {
  return [...ended].sort((a, b) => b.drainSeconds - a.drainSeconds)[0];
}

export function resultJson(result: DemoResult, facts: Readonly<Record<string, unknown>>): string {
  const counts = (tally: Tally) => ({ requests: tally.requests, failed: tally.failed });
  const more = (tally: Tally) => ({ kinds: tally.kinds, clients: tally.clients });
  const { without, with: withLastcall, verdict } = result;
  return JSON.stringify({
    without: { ...counts(without.tally), ...more(without.tally) },
    with: {
      ...counts(withLastcall.tally),
      drainSeconds: withLastcall.ended.map((end) => end.drainSeconds),
      ...more(withLastcall.tally),
      drains: withLastcall.ended.map((end) => ({ pod: end.pod, ...end.summary, withdrawal: withdrawalOf(end) })),
    },
    ...facts,
    ok: verdict.status === 0,
    verdict: verdict.sentence,
  });
}

/** Seconds since the deletion; null where it never came to that. */
function withdrawalOf(end: EndedPod): object {
  const secondsOf = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms) / 1_000);
  const { slicesWithdrawnMs: ms, deletedMs } = end;
  return {
    slicesSeconds: secondsOf(ms === undefined ? ms : ms - deletedMs),
    learnedSeconds: secondsOf(learnedAfterMs(end)),
  };
}

/** Only the kinds of failure that happened: all of them are wider than a terminal. */
export function failureTable(without: Tally, withLastcall: Tally): string[] {
  const rows: [string, Tally][] = [
    ["without lastcall", without],
    ["with lastcall", withLastcall],
  ];
  const kinds = FAILURE_KINDS.filter((kind) => rows.some(([, tally]) => tally.kinds[kind] > 0));
  const head = ["", "requests", "failed", ...kinds];
  const cells = rows.map(([name, tally]) => [
    name,
    ...[tally.requests, tally.failed, ...kinds.map((kind) => tally.kinds[kind])].map(String),
  ]);
  return [head, ...cells].map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(17) : cell.padStart((head[at] ?? "").length + 2))).join(""),
  );
}

const PHASES: readonly (keyof DrainReport["milliseconds"])[] = ["withdrawing", "deregistration", "draining", "holding"];

/** Shorter than what one decimal shows. */
const INVISIBLE_MS = 50;

export function timeSpent(ended: readonly EndedPod[]): string[] {
  const lines = ["Where the time went, from each deletion to the app's stop signal:"];
  for (const end of ended) {
    const spans = PHASES.map((phase) => ({ what: `${phase}`, ms: end.summary?.milliseconds[phase] ?? 0 }));
    const rest = end.drainSeconds * 1_000 - spans.reduce((sum, { ms }) => sum + ms, 0);
    const parts = end.summary === undefined ? [] : [...spans, { what: "starting hooks and stopping", ms: rest }];
    const phases = parts
      .filter(({ ms }) => ms >= INVISIBLE_MS)
      .map(({ what, ms }) => `${what} ${(ms / 1_000).toFixed(1)} s`)
      .join(", ");
    lines.push(`  ${end.pod}  ${end.drainSeconds.toFixed(1)} s${phases === "" ? "" : ` = ${phases}`}`);
    if (end.summary !== undefined) lines.push(`    ${end.summary.outcome}: ${end.summary.why}`);
    const withdrawal = withdrawalWords(end);
    if (withdrawal !== "") lines.push(`    ${withdrawal}`);
  }
  return lines;
}
