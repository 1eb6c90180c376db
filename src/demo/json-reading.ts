/** Reading JSON that was not checked: the wrong kind of value reads as absent. */

export type Json = Readonly<Record<string, unknown>>;

export function objectAt(value: unknown, ...path: readonly string[]): Json {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === "string");
}

function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const step of path) found = isObject(found) ? found[step] : undefined;
  return found;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
