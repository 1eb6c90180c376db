/** Tests the reconcile loop and its failure filter. */
import { describe, expect, test } from "vitest";
import { createFailureFilter, reconcile } from "../../src/authority/reconcile.ts";

/** Reconciles a counter to `goal`; the first `conflicts` writes fail. */
function counterTo(goal: number, conflicts = 0) {
  const world = { count: 0, reads: 0, conflicts };
  const parts = {
    target: "the counter",
    read: async () => {
      world.reads += 1;
      return world.count;
    },
    decide: (seen: number) => (seen < goal ? seen + 1 : undefined),
    write: async (step: number) => {
      world.conflicts -= 1;
      if (world.conflicts < 0) world.count = step;
    },
  };
  return { world, parts };
}

test("the reconciliation reads again after each write and returns the final state", async () => {
  const { world, parts } = counterTo(3, 2);
  expect(await reconcile(parts)).toBe(3);
  expect(world.reads).toBe(6);
});

test("the reconciliation fails after 16 conflicts, with the object's name in the error", async () => {
  const { world, parts } = counterTo(1, 100);
  await expect(reconcile(parts)).rejects.toThrow(/^the counter was changed by another writer 16 times in a row$/);
  expect(world.reads).toBe(16);
});

test("an error of a read or write ends the reconciliation", async () => {
  const { world, parts } = counterTo(1);
  await expect(reconcile({ ...parts, write: () => Promise.reject(new Error("403")) })).rejects.toThrow("403");
  expect(world.reads).toBe(1);
});

describe("a failure of the reconciliation is logged", () => {
  test("once in ten minutes, or if the clock goes back", () => {
    const { isDue } = createFailureFilter();
    expect([0, 10, 599_999, 600_000, 600_001].map((nowMs) => isDue("away", nowMs))).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(isDue("away", -600_000)).toBe(true);
  });

  test("at once if the message changed or after a success", () => {
    const { isDue, reset } = createFailureFilter();
    expect([isDue("away", 0), isDue("forbidden", 0), isDue("forbidden", 1)]).toEqual([true, true, false]);
    reset();
    expect(isDue("forbidden", 2)).toBe(true);
  });
});
