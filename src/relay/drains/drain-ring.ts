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
  // Each list oldest first.
  const namespaces = new Map<string, DrainRecord[]>();
  let size = 0;

  const dropOne = (): void => {
    const [first, ...rest] = namespaces.values();
    if (first === undefined) return;
    const fullest = rest.reduce((most, list) => (losesBefore(list, most) ? list : most), first);
    const dropped = fullest.shift();
    if (dropped !== undefined && fullest.length === 0) namespaces.delete(dropped.namespace);
    size -= 1;
  };

  return {
    add: (record) => {
      const list = namespaces.get(record.namespace) ?? [];
      namespaces.set(record.namespace, list);
      const at = list.findLastIndex((one) => isSameDrain(one, record));
      const before = list[at];
      if (before !== undefined) {
        // The manager's report has more detail than the relay's record of a lost drain.
        if (record.report.outcome !== "lost") {
          list.splice(at, 1);
          list.push({ ...record, id: before.id });
        }
        return "repeated";
      }
      list.push(record);
      size += 1;
      if (size > limit) dropOne();
      return "new";
    },
    list: (namespace) => {
      if (namespace !== undefined) return (namespaces.get(namespace) ?? []).toReversed();
      // Sorting is stable: of two in the same millisecond the later one comes first.
      return [...namespaces.values()].flatMap((list) => list.toReversed()).sort((a, b) => b.endedAtMs - a.endedAtMs);
    },
    find: (id) => [...namespaces.values()].flat().find((record) => record.id === id),
  };
}

function losesBefore(list: readonly DrainRecord[], other: readonly DrainRecord[]): boolean {
  if (list.length !== other.length) return list.length > other.length;
  return (list[0]?.endedAtMs ?? 0) < (other[0]?.endedAtMs ?? 0);
}

function isSameDrain(one: DrainRecord, other: DrainRecord): boolean {
  return one.uid === other.uid && Math.abs(one.endedAtMs - other.endedAtMs) < SAME_DRAIN_MS;
}
