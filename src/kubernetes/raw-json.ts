/** Reads unvalidated JSON: readers return `undefined` or an empty list for values of another type. */

export type RawObject = { readonly [key: string]: unknown };

export function isRawObject(value: unknown): value is RawObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The API server treats null as absent. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** `key` must be a field name of the API. Objects do not inherit such names, so the slower Object.hasOwn is not needed. */
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

export function objectsAt(parent: RawObject | undefined, key: string): readonly RawObject[] {
  const list = listAt(parent, key);
  // Hot path: nearly every list contains only objects, and does not have to be copied.
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

export function withoutKey(parent: RawObject, key: string): RawObject {
  if (!Object.hasOwn(parent, key)) return parent;
  const { [key]: _removed, ...rest } = parent;
  return rest;
}

/** Ignores the order of keys. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isSameJson(item, right[index]))
    );
  }
  if (!isRawObject(left) || !isRawObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]))
  );
}

/** Whether `value` contains all of `expected`. Objects in `value` may have more keys, such as the API server's defaults. */
export function covers(value: unknown, expected: unknown): boolean {
  if (!isRawObject(expected)) {
    if (!Array.isArray(expected)) return value === expected;
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((item, index) => covers(value[index], item))
    );
  }
  return (
    isRawObject(value) &&
    Object.keys(expected).every((key) => Object.hasOwn(value, key) && covers(value[key], expected[key]))
  );
}
