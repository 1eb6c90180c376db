/**
 * Stores the running and the most recent drains that this replica received. Beyond the limit, drops the oldest drain of the
 * namespace with the most drains. Pure.
 */
import { type DrainRecord, isRunning } from "../../drain-history/drain-record.ts";

/** A second report of a Pod within this time is a retry by a manager that missed the response. */
export const SAME_DRAIN_MS = 60_000;

/** A manager delivers its report within seconds after the deadline. */
const OVERDUE_MS = 60_000;

export type DrainRing = {
  readonly add: (record: DrainRecord) => "new" | "repeated";
  readonly list: (namespace?: string) => readonly DrainRecord[];
  readonly find: (id: string) => DrainRecord | undefined;
};

export function createDrainRing(limit: number, wallMs: () => number): DrainRing {
  // Each list is sorted by time, the oldest record first.
  const namespaces = new Map<string, DrainRecord[]>();
  let size = 0;

  const dropOldestRecord = (): void => {
    const [first, ...rest] = namespaces.values();
    if (first === undefined) return;
    const longestList = rest.reduce((longest, list) => (shouldShrinkBefore(list, longest) ? list : longest), first);
    const droppedRecord = longestList.shift();
    if (droppedRecord !== undefined && longestList.length === 0) namespaces.delete(droppedRecord.namespace);
    size -= 1;
  };

  /** Inserts by time: the second report of a Pod has the time of its drain, which may be earlier than the time of the last record. */
  const insert = (list: DrainRecord[], record: DrainRecord): void => {
    list.splice(list.findLastIndex(({ endedAtMs }) => endedAtMs <= record.endedAtMs) + 1, 0, record);
  };

  return {
    add: (record) => {
      const list = namespaces.get(record.namespace) ?? [];
      namespaces.set(record.namespace, list);
      const index = list.findLastIndex((candidate) => isSameDrain(candidate, record));
      const existing = list[index];
      if (existing === undefined) {
        insert(list, record);
        size += 1;
        if (size > limit) dropOldestRecord();
        return "new";
      }
      if (isRunning(existing)) {
        list.splice(index, 1);
        insert(list, { ...record, id: existing.id });
        return isRunning(record) ? "repeated" : "new";
      }
      updateEndedDrain(list, index, existing, record);
      return "repeated";
    },
    list: (namespace) => {
      const nowMs = wallMs();
      const lists = [...(namespace === undefined ? namespaces.values() : [namespaces.get(namespace) ?? []])].map(
        (list) => list.filter((record) => !isOverdue(record, nowMs)).reverse(),
      );
      // The sort is stable: of two records of the same millisecond, the one that was added later comes first.
      return lists.flat().sort((a, b) => b.endedAtMs - a.endedAtMs);
    },
    find: (id) => [...namespaces.values()].flat().find((record) => record.id === id),
  };
}

function updateEndedDrain(list: DrainRecord[], index: number, existing: DrainRecord, record: DrainRecord): void {
  // A report with resets is the second report of the same drain, so it keeps its place. A first report replaces the relay's record
  // of a lost drain or of a running drain, and becomes the newest.
  if (record.report.resets !== undefined) list[index] = { ...existing, report: record.report };
  else if (record.report.outcome !== "lost" && !isRunning(record)) {
    list.splice(index, 1);
    list.push({ ...record, id: existing.id });
  }
}

function shouldShrinkBefore(list: readonly DrainRecord[], other: readonly DrainRecord[]): boolean {
  if (list.length !== other.length) return list.length > other.length;
  return (list[0]?.endedAtMs ?? 0) < (other[0]?.endedAtMs ?? 0);
}

/** The manager of an overdue drain was killed, or its last report was lost or reached another replica. */
function isOverdue(record: DrainRecord, nowMs: number): boolean {
  const { remainingMs = 0 } = record.report;
  return isRunning(record) && nowMs > record.endedAtMs + remainingMs + OVERDUE_MS;
}

function isSameDrain(left: DrainRecord, right: DrainRecord): boolean {
  if (left.uid !== right.uid) return false;
  return isRunning(left) || Math.abs(left.endedAtMs - right.endedAtMs) < SAME_DRAIN_MS;
}
