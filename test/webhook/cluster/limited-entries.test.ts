/** Tests the eviction of entries above a limit. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import { LimitedEntries } from "../../../src/webhook/cluster/limited-entries.ts";

const LIMITS = { perNamespace: 3, total: 10, timeOf: (time: number) => time };

function createEntries(...pairs: readonly (readonly [string, number])[]): LimitedEntries<number> {
  const entries = new LimitedEntries(LIMITS);
  for (const [key, time] of pairs) entries.set(key, time);
  return entries;
}

/** Creates entries with the time 10; `sizes` is the number of entries by namespace. */
function createPairs(sizes: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(sizes).flatMap(([namespace, size]) =>
    Array.from({ length: size }, (_, at) => [`${namespace}/${at}`, 10] as const),
  );
}

describe("above the entry limit of a namespace", () => {
  test("the namespace's oldest entry is evicted, in any order of arrival", () => {
    expect([...createEntries(["a/1", 5], ["a/2", 1], ["a/3", 7], ["a/4", 3]).keys()]).toEqual(["a/1", "a/3", "a/4"]);
    expect([...createEntries(["a/1", 5], ["a/2", 4], ["a/3", 7], ["a/4", 3]).keys()]).toEqual(["a/1", "a/2", "a/3"]);
  });

  test("a change of an entry does not evict other entries", () => {
    const entries = createEntries(["a/1", 5], ["a/2", 1], ["a/3", 7], ["a/2", 9]);
    expect([...entries]).toEqual([
      ["a/1", 5],
      ["a/2", 9],
      ["a/3", 7],
    ]);
  });
});

describe("above the total entry limit of a cache", () => {
  test("an entry of the largest namespace is evicted", () => {
    const entries = createEntries(...createPairs({ a: 2, b: 3, c: 2, d: 2, e: 1 }), ["f/1", 1]);
    expect(entries.size).toBe(10);
    expect(entries.has("b/0")).toBe(false);
    expect(entries.has("f/1")).toBe(true);
  });

  test("a namespace that grew to the size of the largest namespace evicts one of its own entries", () => {
    const entries = createEntries(...createPairs({ a: 2, b: 3, c: 3, d: 2 }), ["a/new", 20]);
    expect([...entries.keys()].filter((key) => key.startsWith("a/"))).toEqual(["a/1", "a/new"]);
    expect(entries.size).toBe(10);
  });
});

type Change = {
  readonly namespace: string;
  readonly name: string;
  readonly time: number;
  readonly isDeletion: boolean;
};

test("after any changes neither limit is exceeded, and only the largest namespace loses entries to other namespaces", () => {
  const anyChange: fc.Arbitrary<Change> = fc.record({
    namespace: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "__proto__", ""),
    name: fc.constantFrom("1", "2", "3", "4", "5"),
    time: fc.nat(9),
    isDeletion: fc.nat(5).map((n) => n === 0),
  });
  fc.assert(
    fc.property(fc.array(anyChange, { minLength: 20, maxLength: 120, size: "max" }), (changes) => {
      const entries = new LimitedEntries(LIMITS);
      for (const change of changes) applyAndCheck(entries, change);
    }),
  );
});

function applyAndCheck(entries: LimitedEntries<number>, { namespace, name, time, isDeletion }: Change): void {
  const sizesBefore = sizesOf(entries);
  const key = namespace === "" ? name : `${namespace}/${name}`;
  if (isDeletion) entries.delete(key);
  else entries.set(key, time);
  const sizesAfter = sizesOf(entries);
  expect(entries.size).toBeLessThanOrEqual(LIMITS.total);
  expect(Math.max(0, ...sizesAfter.values())).toBeLessThanOrEqual(LIMITS.perNamespace);
  const shrunkNamespaces = [...sizesBefore].filter(
    ([other, size]) => other !== namespace && (sizesAfter.get(other) ?? 0) < size,
  );
  const largestSize = Math.max(0, ...sizesBefore.values());
  const expectedSize = (sizesBefore.get(namespace) ?? 0) + 1;
  expect(
    shrunkNamespaces.every(
      ([other, size]) => size === largestSize && size > expectedSize && sizesAfter.get(other) === size - 1,
    ),
  ).toBe(true);
  expect(shrunkNamespaces.length).toBeLessThanOrEqual(isDeletion ? 0 : 1);
}

function sizesOf(entries: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const key of entries.keys()) {
    const namespace = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
    sizes.set(namespace, (sizes.get(namespace) ?? 0) + 1);
  }
  return sizes;
}

test("each list replaces the content of a limited cache, and the limits still apply", () => {
  const store = createStore(
    () => 1,
    () => new LimitedEntries(LIMITS),
  );
  const createObject = (namespace: string, name: string) => ({ metadata: { namespace, name } });
  for (const name of ["1", "2", "3", "4"]) store.put(createObject("a", name));
  expect(store.entries.size).toBe(3);
  const listedEntries = store.newEntries?.() ?? new Map();
  for (let at = 0; at < 100; at += 1) listedEntries.set(`n${at % 7}/${at}`, at);
  expect(listedEntries.size).toBe(10);
  store.replace(listedEntries);
  expect([...store.entries].sort()).toEqual([...listedEntries].sort());
  store.replace([]);
  for (const name of ["1", "2", "3"]) store.put(createObject("b", name));
  store.remove(createObject("b", "2"));
  expect([...store.entries.keys()]).toEqual(["b/1", "b/3"]);
});
