import fc from "fast-check";
import { expect, test } from "vitest";
import { createStore, createSummaryReader, keyOf } from "../../src/api-server/store.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";

type Step =
  | { readonly kind: "put"; readonly name: string; readonly namespace: string; readonly note: number }
  | { readonly kind: "remove"; readonly name: string; readonly namespace: string }
  | { readonly kind: "list" };

const name = fc.constantFrom("a", "b", "c", "__proto__", "constructor");
const namespace = fc.constantFrom("", "shop", "toString");
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("put" as const), name, namespace, note: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ kind: fc.constant("remove" as const), name, namespace }),
    fc.record({ kind: fc.constant("list" as const) }),
  ),
  { maxLength: 30 },
);

function objectOf(step: { readonly name: string; readonly namespace: string; readonly note?: number }): RawObject {
  return { metadata: { name: step.name, namespace: step.namespace }, note: step.note };
}

/** Objects whose note is 0 are not cached. */
const readNonZeroNote = (object: RawObject): number | undefined =>
  object["note"] === 0 ? undefined : Number(object["note"]);

const reducedEntriesOf = (server: ReadonlyMap<string, RawObject>) =>
  [...server].flatMap(([key, object]) => {
    const value = readNonZeroNote(object);
    return value === undefined ? [] : [[key, value] as const];
  });

test("after any sequence of lists and events, the store has the server's state", () => {
  fc.assert(
    fc.property(steps, fc.array(fc.nat(2), { minLength: 30, maxLength: 30 }), (sequence, times) => {
      const serverObjects = new Map<string, RawObject>();
      const store = createStore(readNonZeroNote);
      // The store may receive an event more than once, and not at all if a list follows.
      const lastList = sequence.map((step) => step.kind).lastIndexOf("list");
      sequence.forEach((step, index) => {
        if (step.kind === "list") {
          store.replace(reducedEntriesOf(serverObjects));
          return;
        }
        const object = objectOf(step);
        if (step.kind === "put") serverObjects.set(keyOf(object), object);
        else serverObjects.delete(keyOf(object));
        const deliveries = index > lastList ? Math.max(1, times[index] ?? 1) : (times[index] ?? 1);
        for (let delivery = 0; delivery < deliveries; delivery += 1) store[step.kind](object);
      });
      expect([...store.entries].sort()).toEqual([...reducedEntriesOf(serverObjects)].sort());
    }),
  );
});

test("the summary of a store is computed once per change", () => {
  const store = createStore(readNonZeroNote);
  let computedCount = 0;
  const summary = createSummaryReader(store, (entries) => {
    computedCount += 1;
    return entries.size;
  });
  expect([summary(), summary()]).toEqual([0, 0]);
  store.put(objectOf({ name: "a", namespace: "", note: 1 }));
  expect([summary(), summary(), computedCount]).toEqual([1, 1, 2]);
  store.remove(objectOf({ name: "b", namespace: "" }));
  expect([summary(), computedCount]).toEqual([1, 2]);
});
