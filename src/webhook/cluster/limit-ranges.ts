/** LimitRanges by namespace. Pure. */
import { type LimitRange, readLimitRange } from "../../kubernetes/limit-range.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";

/** One that limits neither containers nor Pods is not kept. */
export function keepLimitRange(object: RawObject): LimitRange | undefined {
  const range = readLimitRange(object);
  return range.items.length === 0 ? undefined : range;
}

/** Each namespace's own in the order of their names, so that every replica sees the same. */
export function byNamespace(entries: ReadonlyMap<string, LimitRange>): ReadonlyMap<string, readonly LimitRange[]> {
  const grouped = new Map<string, LimitRange[]>();
  for (const [key, range] of entries) {
    const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
    const group = grouped.get(namespace);
    if (group === undefined) grouped.set(namespace, [range]);
    else group.push(range);
  }
  for (const group of grouped.values()) group.sort((left, right) => (left.name < right.name ? -1 : 1));
  return grouped;
}
