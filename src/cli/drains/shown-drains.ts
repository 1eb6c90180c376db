/** Which drains a person has seen already, so that a look that is repeated shows only what is new. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains, TOLD_TWICE_WITHIN_MS, wordsOf } from "../../drain-history/merge.ts";

/** More than the replicas together remember. Whatever is still remembered is seen again and so never forgotten here. */
const SHOWN_LIMIT = 20_000;

export type ShownDrains = {
  /** What of these was not shown yet, newest first. */
  readonly fresh: (lists: readonly (readonly DrainRecord[])[]) => readonly DrainRecord[];
};

/** A replica that hears more of a drain tells other words under the same id; those are new. */
export function createShownDrains(limit: number = SHOWN_LIMIT): ShownDrains {
  const shown = new Map<string, number>();
  return {
    fresh: (lists) => {
      const fresh: DrainRecord[] = [];
      for (const record of mergeDrains(lists).toReversed()) {
        const words = wordsOf(record);
        const beforeMs = shown.get(words);
        if (beforeMs === undefined || Math.abs(record.endedAtMs - beforeMs) > TOLD_TWICE_WITHIN_MS) fresh.push(record);
        // Taken out and put in again: what was seen last is forgotten last.
        shown.delete(words);
        shown.set(words, Math.max(record.endedAtMs, beforeMs ?? 0));
      }
      for (const words of shown.keys()) {
        if (shown.size <= limit) break;
        shown.delete(words);
      }
      return fresh.reverse();
    },
  };
}
