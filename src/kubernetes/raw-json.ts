/** Reading JSON of unknown shape: every reader answers `undefined` or an empty list instead of throwing. */

export type RawObject = { readonly [key: string]: unknown };

export function isRawObject(value: unknown): value is RawObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Absent and null mean the same to the API server. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** `key` is one of the API's words, and no object inherits any of those: the costlier look for an own key is not needed. */
export function valueAt(parent: RawObject | undefined, key: string): unknown {
  return parent === undefined ? undefined : parent[key];
}

export function objectAt(parent: RawObject | undefined, key: string): RawObject | undefined {
  const value = valueAt(parent, key);
  return isRawObject(value) ? value : undefined;
}

export function listAt(parent: RawObject | undefined, key: string): readonly unknown[] {
  const value = valueAt(parent, key);
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; anything else in it is passed over. */
export function objectsAt(parent: RawObject | undefined, key: string): readonly RawObject[] {
  const list = listAt(parent, key);
  // Nearly every list holds nothing else, and this is asked many times for each Pod.
  return list.every(isRawObject) ? list : list.filter(isRawObject);
}

export function textAt(parent: RawObject | undefined, key: string): string | undefined {
  const value = valueAt(parent, key);
  return typeof value === "string" ? value : undefined;
}

export function wholeNumberAt(parent: RawObject | undefined, key: string): number | undefined {
  const value = valueAt(parent, key);
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

/** A copy without one key; the same object when the key is not there. */
export function without(parent: RawObject, key: string): RawObject {
  if (!Object.hasOwn(parent, key)) return parent;
  const { [key]: _dropped, ...rest } = parent;
  return rest;
}

/** Whether two JSON values are the same, whatever the order of keys. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) && left.length === right.length && left.every((item, index) => sameJson(item, right[index]))
    );
  }
  if (!isRawObject(left) || !isRawObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  );
}

/** Whether `value` says everything `wanted` says. Further keys, such as the API server's defaults, are welcome. */
export function covers(value: unknown, wanted: unknown): boolean {
  if (!isRawObject(wanted)) {
    if (!Array.isArray(wanted)) return value === wanted;
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((item, index) => covers(value[index], item))
    );
  }
  return (
    isRawObject(value) &&
    Object.keys(wanted).every((key) => Object.hasOwn(value, key) && covers(value[key], wanted[key]))
  );
}
