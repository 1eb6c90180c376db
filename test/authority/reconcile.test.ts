/** Tests the reconcile loop and its failure filter. */
import { describe, expect, test } from "vitest";
import { createFailureFilter, reconcile } from "../../src/authority/reconcile.ts";

/** Reconciles a counter to `goal`; the first `conflicts` writes fail. */
function createCounterSteps(goal: number, conflicts = 0) {
  const state = { count: 0, readCount: 0, conflicts };
  const steps = {
    target: "the counter",
    read: async () => {
      state.readCount += 1;
      return state.count;
    },
    decide: (observed: number) => (observed < goal ? observed + 1 : undefined),
    write: async (step: number) => {
      state.conflicts -= 1;
      if (state.conflicts < 0) state.count = step;
    },
  };
  return { state, steps };
}

test("the reconciliation reads again after each write and returns the final state", async () => {
  const { state, steps } = createCounterSteps(3, 2);
  expect(await reconcile(steps)).toBe(3);
  expect(state.readCount).toBe(6);
});

test("the reconciliation fails after 16 conflicts, with the object's name in the error", async () => {
  const { state, steps } = createCounterSteps(1, 100);
  await expect(reconcile(steps)).rejects.toThrow(/^the counter was changed by other clients 16 times in a row$/);
  expect(state.readCount).toBe(16);
});

test("an error of a read or write ends the reconciliation", async () => {
  const { state, steps } = createCounterSteps(1);
  await expect(reconcile({ ...steps, write: () => Promise.reject(new Error("403")) })).rejects.toThrow("403");
  expect(state.readCount).toBe(1);
});

describe("a failure of the reconciliation is logged", () => {
  test("once in ten minutes, and again if the clock is set back", () => {
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

  test("immediately if its message changed or if the previous reconciliation succeeded", () => {
    const { isDue, reset } = createFailureFilter();
    expect([isDue("away", 0), isDue("forbidden", 0), isDue("forbidden", 1)]).toEqual([true, true, false]);
    reset();
    expect(isDue("forbidden", 2)).toBe(true);
  });
});
