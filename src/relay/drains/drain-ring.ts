/** Keeps the last drains of this replica; the namespace with most loses its oldest first, to protect the others. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";

/** A second report of one Pod within this is a repetition, by a manager that missed the answer. */
export const SAME_DRAIN_MS = 60_000;

export type DrainRing = {
  /** `told-again`: a repetition, which replaces the Pod's last report under the same id. */
  readonly add: (record: DrainRecord) => "new" | "told-again";
  /** Newest first; of all namespaces when none is named. */
  readonly list: (namespace?: string) => readonly DrainRecord[];
  readonly find: (id: string) => DrainRecord | undefined;
};

/** @param limit of all namespaces together */
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
        // A report has more than the relay can find out about a lost drain.
        if (record.report.outcome !== "lost") {
          list.splice(at, 1);
          list.push({ ...record, id: before.id });
        }
        return "told-again";
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
