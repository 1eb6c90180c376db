/** Tests the eviction of entries above a limit. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import { LimitedEntries } from "../../../src/webhook/cluster/limited-entries.ts";

const LIMITS = { perNamespace: 3, total: 10, timeOf: (time: number) => time };

function entriesOf(...set: readonly (readonly [string, number])[]): LimitedEntries<number> {
  const entries = new LimitedEntries(LIMITS);
  for (const [key, time] of set) entries.set(key, time);
  return entries;
}

/** Returns as many entries of each namespace as `sizes` contains for it, all with the time 10. */
function entriesPerNamespace(sizes: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(sizes).flatMap(([namespace, size]) =>
    Array.from({ length: size }, (_, at) => [`${namespace}/${at}`, 10] as const),
  );
}

describe("above the entry limit of a namespace", () => {
  test("the namespace's oldest entry is evicted, in any order of arrival", () => {
    expect([...entriesOf(["a/1", 5], ["a/2", 1], ["a/3", 7], ["a/4", 3]).keys()]).toEqual(["a/1", "a/3", "a/4"]);
    expect([...entriesOf(["a/1", 5], ["a/2", 4], ["a/3", 7], ["a/4", 3]).keys()]).toEqual(["a/1", "a/2", "a/3"]);
  });

  test("a change of an entry evicts no other entry", () => {
    const entries = entriesOf(["a/1", 5], ["a/2", 1], ["a/3", 7], ["a/2", 9]);
    expect([...entries]).toEqual([
      ["a/1", 5],
      ["a/2", 9],
      ["a/3", 7],
    ]);
  });
});

describe("above the total entry limit of a cache", () => {
  test("an entry of the largest namespace is evicted", () => {
    const entries = entriesOf(...entriesPerNamespace({ a: 2, b: 3, c: 2, d: 2, e: 1 }), ["f/1", 1]);
    expect(entries.size).toBe(10);
    expect(entries.has("b/0")).toBe(false);
    expect(entries.has("f/1")).toBe(true);
  });

  test("a namespace that grew to the size of the largest evicts one of its own entries", () => {
    const entries = entriesOf(...entriesPerNamespace({ a: 2, b: 3, c: 3, d: 2 }), ["a/new", 20]);
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
  const change: fc.Arbitrary<Change> = fc.record({
    namespace: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "__proto__", ""),
    name: fc.constantFrom("1", "2", "3", "4", "5"),
    time: fc.nat(9),
    isDeletion: fc.nat(5).map((n) => n === 0),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 20, maxLength: 120, size: "max" }), (changes) => {
      const entries = new LimitedEntries(LIMITS);
      for (const change of changes) applyAndCheck(entries, change);
    }),
  );
});

function applyAndCheck(entries: LimitedEntries<number>, { namespace, name, time, isDeletion }: Change): void {
  const before = sizesOf(entries);
  const key = namespace === "" ? name : `${namespace}/${name}`;
  if (isDeletion) entries.delete(key);
  else entries.set(key, time);
  const after = sizesOf(entries);
  expect(entries.size).toBeLessThanOrEqual(LIMITS.total);
  expect(Math.max(0, ...after.values())).toBeLessThanOrEqual(LIMITS.perNamespace);
  const shrunk = [...before].filter(([other, size]) => other !== namespace && (after.get(other) ?? 0) < size);
  const largest = Math.max(0, ...before.values());
  const expectedSize = (before.get(namespace) ?? 0) + 1;
  expect(
    shrunk.every(([other, size]) => size === largest && size > expectedSize && after.get(other) === size - 1),
  ).toBe(true);
  expect(shrunk.length).toBeLessThanOrEqual(isDeletion ? 0 : 1);
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
  const object = (namespace: string, name: string) => ({ metadata: { namespace, name } });
  for (const name of ["1", "2", "3", "4"]) store.put(object("a", name));
  expect(store.entries.size).toBe(3);
  const listed = store.newEntries?.() ?? new Map();
  for (let at = 0; at < 100; at += 1) listed.set(`n${at % 7}/${at}`, at);
  expect(listed.size).toBe(10);
  store.replace(listed);
  expect([...store.entries].sort()).toEqual([...listed].sort());
  store.replace([]);
  for (const name of ["1", "2", "3"]) store.put(object("b", name));
  store.remove(object("b", "2"));
  expect([...store.entries.keys()]).toEqual(["b/1", "b/3"]);
});
