/** Merges the drain records of several replicas into one list, independent of their order. Pure. */
import { type DrainRecord, isRunning } from "./drain-record.ts";

/**
 * A manager that does not receive a response sends its report to another replica within seconds; the rest of the time is for clock skew.
 * A record with equal content after a longer time is of another drain of the same Pod.
 */
export const DUPLICATE_WINDOW_MS = 60_000;

/**
 * Sorts the newest first. The latest record of an id replaces the others, because a replica may receive a later report.
 * If a drain was reported to two replicas, the earlier record is returned, with the resets of the later record.
 */
export function mergeDrains(lists: readonly (readonly DrainRecord[])[]): readonly DrainRecord[] {
  const sortedRecords = lists
    .flat()
    .map((record) => ({ record, key: contentKey(record) }))
    .sort(compareTimes);
  const latestById = new Map(sortedRecords.map((keyed) => [keyed.record.id, keyed]));
  const lastByContent = new Map<string, { readonly endedAtMs: number; readonly index: number }>();
  const mergedRecords: DrainRecord[] = [];
  for (const { record, key } of [...latestById.values()].sort(compareTimes)) {
    const previous = lastByContent.get(key);
    const earlierRecord = mergedRecords[previous?.index ?? -1];
    if (previous !== undefined && earlierRecord !== undefined && isDuplicate(record.endedAtMs, previous.endedAtMs)) {
      mergedRecords[previous.index] = withResets(earlierRecord, record);
      continue;
    }
    lastByContent.set(key, { endedAtMs: record.endedAtMs, index: mergedRecords.length });
    mergedRecords.push(record);
  }
  return dropSuperseded(mergedRecords).toReversed();
}

/**
 * Drops the report of a running drain if another replica received a later report of that drain, or its final report.
 *
 * @param records the newest last
 */
function dropSuperseded(records: readonly DrainRecord[]): readonly DrainRecord[] {
  const lastIndexByPod = new Map<string, number>();
  const lastEndMsByPod = new Map<string, number>();
  for (const [index, record] of records.entries()) {
    if (isRunning(record)) lastIndexByPod.set(podKey(record), index);
    else lastEndMsByPod.set(podKey(record), record.endedAtMs);
  }
  return records.filter((record, index) => {
    if (!isRunning(record)) return true;
    const endMs = lastEndMsByPod.get(podKey(record));
    const hasEnded = endMs !== undefined && endMs >= record.endedAtMs - DUPLICATE_WINDOW_MS;
    return !hasEnded && lastIndexByPod.get(podKey(record)) === index;
  });
}

/** Contains the namespace, because a false report can have the uid of a Pod in another namespace. */
function podKey({ namespace, uid }: DrainRecord): string {
  return `${namespace}/${uid}`;
}

/** The two replicas' clocks differ, so either report of the Pod can be the earlier record. */
function withResets(record: DrainRecord, duplicate: DrainRecord): DrainRecord {
  const resets = record.report.resets ?? duplicate.report.resets;
  return resets === undefined ? record : { ...record, report: { ...record.report, resets } };
}

type KeyedRecord = { readonly record: DrainRecord; readonly key: string };

function compareTimes(a: KeyedRecord, b: KeyedRecord): number {
  const timeDifference = a.record.endedAtMs - b.record.endedAtMs;
  return (
    timeDifference ||
    compareCodeUnits(a.record.id, b.record.id) ||
    compareCodeUnits(a.key, b.key) ||
    compareCodeUnits(resetsKey(a.record), resetsKey(b.record))
  );
}

/** A sort key. A drain's first report does not contain resets, so its key is empty and sorts before that of the second report. */
function resetsKey({ report: { resets } }: DrainRecord): string {
  if (resets === undefined) return "";
  return JSON.stringify([resets.draining, resets.stopping, resets.probes, resets.stoppingMs]);
}

export function contentKey({ namespace, pod, uid, report }: DrainRecord): string {
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
    [
      withdrawing,
      deregistration,
      draining,
      holding,
      report.relay ?? "",
      report.withdrawnAfterMs ?? -1,
      report.remainingMs ?? -1,
    ],
    report.left.map(({ local, peer, ageMs, state }) => [local, peer, ageMs, state]),
  ]);
}

/** A time of 0 is unknown, as in a log without timestamps; such records are duplicates only if their ids are equal. */
function isDuplicate(endedAtMs: number, beforeMs: number): boolean {
  return endedAtMs > 0 && endedAtMs - beforeMs <= DUPLICATE_WINDOW_MS;
}

/** Unlike `localeCompare`, independent of the machine's locale. */
function compareCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
