import fc from "fast-check";
import { expect, test } from "vitest";
import { nextStep, type RolloutStep } from "../../src/demo/rollout/rollout.ts";

/** Plays a whole update in which new Pods get Ready whenever nothing else is left to do. */
function play(desired: number): { steps: RolloutStep[]; fewestReady: number; most: number } {
  const state = { desired, old: desired, fresh: 0, freshReady: 0 };
  const steps: RolloutStep[] = [];
  let fewestReady = desired;
  let most = desired;
  for (let i = 0; i < 100; i++) {
    const step = nextStep(state);
    steps.push(step);
    if (step === "finished") break;
    if (step === "create") state.fresh += 1;
    if (step === "delete") state.old -= 1;
    if (step === "wait") state.freshReady += 1;
    fewestReady = Math.min(fewestReady, state.old + state.freshReady);
    most = Math.max(most, state.old + state.fresh);
  }
  return { steps, fewestReady, most };
}

test("a Deployment of two creates one, waits for it, deletes one, and again", () => {
  expect(play(2).steps).toEqual(["create", "wait", "delete", "create", "wait", "delete", "finished"]);
});

test("an update of any size ends, never has fewer Ready Pods than wanted, and never more than one too many", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), (desired) => {
      const played = play(desired);
      expect(played.steps.at(-1)).toBe("finished");
      expect(played.fewestReady).toBe(desired);
      expect(played.most).toBe(desired + 1);
    }),
  );
});
