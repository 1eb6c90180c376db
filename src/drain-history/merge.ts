/** What several replicas remember of the same drains, as one list. Pure; the order of lists and records is of no matter. */
import type { DrainRecord } from "./drain-record.ts";

/**
 * A manager that heard no answer tells the next replica. Its second try comes within seconds; the rest is for clocks
 * that differ. The same words again after longer than this are another drain of the same Pod.
 */
export const TOLD_TWICE_WITHIN_MS = 60_000;

/**
 * Newest first. Of one id the latest words count, since a replica may hear more of a drain; a drain that was reported
 * to two replicas is there once, as the one that heard of it first tells it.
 */
export function mergeDrains(lists: readonly (readonly DrainRecord[])[]): readonly DrainRecord[] {
  const sorted = lists
    .flat()
    .map((record) => ({ record, words: wordsOf(record) }))
    .sort(inTime);
  const latest = new Map(sorted.map((told) => [told.record.id, told]));
  const lastTold = new Map<string, number>();
  const kept: DrainRecord[] = [];
  for (const { record, words } of [...latest.values()].sort(inTime)) {
    if (isToldTwice(record.endedAtMs, lastTold.get(words))) continue;
    lastTold.set(words, record.endedAtMs);
    kept.push(record);
  }
  return kept.reverse();
}

type Told = { readonly record: DrainRecord; readonly words: string };

function inTime(a: Told, b: Told): number {
  const byTime = a.record.endedAtMs - b.record.endedAtMs;
  return byTime || inOrder(a.record.id, b.record.id) || inOrder(a.words, b.words);
}

/** Two records with the same words tell of the same Pod the same things; only the ids and the times may differ. */
export function wordsOf({ namespace, pod, uid, report }: DrainRecord): string {
  const { withdrawing, deregistration, draining, holding } = report.milliseconds;
  return JSON.stringify([
    [
      namespace,
      pod,
      uid,
      report.phase,
      report.outcome,
      report.trigger,
      report.leftTotal,
      report.evidenceSource,
      report.why,
    ],
    [withdrawing, deregistration, draining, holding, report.relay ?? "", report.withdrawnAfterMs ?? -1],
    report.left.map(({ local, peer, ageMs, state }) => [local, peer, ageMs, state]),
  ]);
}

/** A time of 0 is unknown, as in a log without times: then only the ids tell drains apart. */
function isToldTwice(endedAtMs: number, beforeMs: number | undefined): boolean {
  return beforeMs !== undefined && endedAtMs > 0 && endedAtMs - beforeMs <= TOLD_TWICE_WITHIN_MS;
}

/** By code units: the order of a language would depend on the machine. */
function inOrder(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
