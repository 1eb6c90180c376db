/** Parents that were there before injection and held nothing: null, an empty list, an empty object. */
import { isRawObject, type RawObject, without } from "../../kubernetes/raw-json.ts";
import type { EmptyParent, OriginalRecord } from "./original-record.ts";

/** What the record notes of a parent that injection is about to fill. */
export function emptyParentAt(
  name: string,
  parent: RawObject | undefined,
  key: string,
): readonly (readonly [string, EmptyParent])[] {
  if (parent === undefined || !Object.hasOwn(parent, key)) return [];
  const value = parent[key];
  if (value === null) return [[name, null]];
  if (Array.isArray(value)) return value.length === 0 ? [[name, []]] : [];
  return isRawObject(value) && Object.keys(value).length === 0 ? [[name, {}]] : [];
}

/** Removes the key, or puts back the nothing that was written there. */
export function restoreEmptyParent(parent: RawObject, key: string, record: OriginalRecord, name: string): RawObject {
  if (!Object.hasOwn(record.blank, name)) return without(parent, key);
  return { ...parent, [key]: record.blank[name] };
}
