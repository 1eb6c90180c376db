/** Keeps the last drains of this replica; beyond its limit the namespace with most drains loses its oldest. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";

/** A second report of a Pod within this time is a retry by a manager that missed the response. */
export const SAME_DRAIN_MS = 60_000;

export type DrainRing = {
  readonly add: (record: DrainRecord) => "new" | "repeated";
  readonly list: (namespace?: string) => readonly DrainRecord[];
  readonly find: (id: string) => DrainRecord | undefined;
};

export function createDrainRing(limit: number): DrainRing {
  // Each list is sorted by time, the oldest record first.
  const namespaces = new Map<string, DrainRecord[]>();
  let size = 0;

  const dropOldestRecord = (): void => {
    const [first, ...rest] = namespaces.values();
    if (first === undefined) return;
    const longestList = rest.reduce((longest, list) => (dropsBefore(list, longest) ? list : longest), first);
    const dropped = longestList.shift();
    if (dropped !== undefined && longestList.length === 0) namespaces.delete(dropped.namespace);
    size -= 1;
  };

  return {
    add: (record) => {
      const list = namespaces.get(record.namespace) ?? [];
      namespaces.set(record.namespace, list);
      const index = list.findLastIndex((candidate) => isSameDrain(candidate, record));
      const existing = list[index];
      if (existing !== undefined) {
        // The manager's report has more detail than the relay's record of a lost drain.
        if (record.report.resets !== undefined) list[index] = { ...existing, report: record.report };
        else if (record.report.outcome !== "lost") {
          list.splice(index, 1);
          list.push({ ...record, id: existing.id });
        }
        return "repeated";
      }
      // The second report of a Pod has the earlier time of its drain.
      const nextIndex = list.findLastIndex(({ endedAtMs }) => endedAtMs <= record.endedAtMs) + 1;
      list.splice(nextIndex, 0, record);
      size += 1;
      if (size > limit) dropOldestRecord();
      return "new";
    },
    list: (namespace) => {
      if (namespace !== undefined) return (namespaces.get(namespace) ?? []).toReversed();
      // The sort is stable: of two records of the same millisecond, the one that was added later comes first.
      return [...namespaces.values()].flatMap((list) => list.toReversed()).sort((a, b) => b.endedAtMs - a.endedAtMs);
    },
    find: (id) => [...namespaces.values()].flat().find((record) => record.id === id),
  };
}

function dropsBefore(list: readonly DrainRecord[], other: readonly DrainRecord[]): boolean {
  if (list.length !== other.length) return list.length > other.length;
  return (list[0]?.endedAtMs ?? 0) < (other[0]?.endedAtMs ?? 0);
}

function isSameDrain(left: DrainRecord, right: DrainRecord): boolean {
  return left.uid === right.uid && Math.abs(left.endedAtMs - right.endedAtMs) < SAME_DRAIN_MS;
}
