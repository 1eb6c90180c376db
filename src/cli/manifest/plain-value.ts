/** Plain data as a manifest holds it, where the API's own readers are not enough. */

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Sets a key that may be called `__proto__` without touching the prototype. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}
