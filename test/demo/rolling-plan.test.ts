import fc from "fast-check";
import { expect, test } from "vitest";
import { nextStep, type RolloutStep } from "../../src/demo/rollout/rollout.ts";

/** Simulates an update in which a new Pod becomes Ready in each wait. */
function simulate(desired: number): { steps: RolloutStep[]; minReady: number; maxPods: number } {
  const state = { desiredCount: desired, oldCount: desired, updatedCount: 0, readyCount: 0 };
  const steps: RolloutStep[] = [];
  let fewestReady = desired;
  let most = desired;
  for (let i = 0; i < 100; i++) {
    const step = nextStep(state);
    steps.push(step);
    if (step === "finished") break;
    if (step === "create") state.updatedCount += 1;
    if (step === "delete") state.oldCount -= 1;
    if (step === "wait") state.readyCount += 1;
    fewestReady = Math.min(fewestReady, state.oldCount + state.readyCount);
    most = Math.max(most, state.oldCount + state.updatedCount);
  }
  return { steps, minReady: fewestReady, maxPods: most };
}

test("a rolling update of two replicas repeatedly creates a Pod, waits for it, and deletes an old Pod", () => {
  expect(simulate(2).steps).toEqual(["create", "wait", "delete", "create", "wait", "delete", "finished"]);
});

test("a rolling update of any size finishes, with maxUnavailable 0 and maxSurge 1 at every step", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), (desired) => {
      const update = simulate(desired);
      expect(update.steps.at(-1)).toBe("finished");
      expect(update.minReady).toBe(desired);
      expect(update.maxPods).toBe(desired + 1);
    }),
  );
});
