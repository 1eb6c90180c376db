/** Reads unvalidated JSON: a value of the wrong type reads as absent. */

export type Json = Readonly<Record<string, unknown>>;

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function objectAt(value: unknown, ...path: readonly string[]): Json {
  const foundValue = valueAt(value, path);
  return isObject(foundValue) ? foundValue : {};
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const foundValue = valueAt(value, path);
  return Array.isArray(foundValue) ? foundValue : [];
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const foundValue = valueAt(value, path);
  return typeof foundValue === "string" ? foundValue : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const foundValue = valueAt(value, path);
  return typeof foundValue === "number" && Number.isFinite(foundValue) ? foundValue : undefined;
}

export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === "string");
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, step) => (isObject(found) ? found[step] : undefined), value);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
