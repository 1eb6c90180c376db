/** Merges the drains of several replicas to one list, independent of their order. */
import type { DrainRecord } from "./drain-record.ts";

/**
 * Without a response a manager sends its report to another replica within seconds; the rest covers clock skew. An equal
 * report after a longer time is another drain of the Pod.
 */
export const SAME_REPORT_WITHIN_MS = 60_000;

/**
 * Newest first. Of one ID the latest record counts, since a replica can update it; of a drain that two replicas received,
 * the earlier record.
 */
export function mergeDrains(lists: readonly (readonly DrainRecord[])[]): readonly DrainRecord[] {
  const sorted = lists
    .flat()
    .map((record) => ({ record, content: contentOf(record) }))
    .sort(inTime);
  const latest = new Map(sorted.map((keyed) => [keyed.record.id, keyed]));
  const lastEndedAtMs = new Map<string, number>();
  const kept: DrainRecord[] = [];
  for (const { record, content } of [...latest.values()].sort(inTime)) {
    if (isSameReport(record.endedAtMs, lastEndedAtMs.get(content))) continue;
    lastEndedAtMs.set(content, record.endedAtMs);
    kept.push(record);
  }
  return kept.reverse();
}

type Keyed = { readonly record: DrainRecord; readonly content: string };

function inTime(a: Keyed, b: Keyed): number {
  const byTime = a.record.endedAtMs - b.record.endedAtMs;
  return byTime || inOrder(a.record.id, b.record.id) || inOrder(a.content, b.content);
}

/** Equal for records that differ in ID and time only. */
export function contentOf({ namespace, pod, uid, report }: DrainRecord): string {
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

/** A time of 0 is unknown, as in a log without times; such records differ by their IDs only. */
function isSameReport(endedAtMs: number, beforeMs: number | undefined): boolean {
  return beforeMs !== undefined && endedAtMs > 0 && endedAtMs - beforeMs <= SAME_REPORT_WITHIN_MS;
}

/** By code units, since a locale's order depends on the machine. */
function inOrder(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
