import fc from "fast-check";
import { expect, test } from "vitest";
import { BACK_OFF_RESET_MS, countedRestarts, restartDelayMs } from "../../src/demo/pods/kubelet-rules.ts";

test("a container restarts after 0.5 s, then after 10 s, then with a delay that doubles up to 5 minutes", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7].map(restartDelayMs)).toEqual([
    500, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
  ]);
});

test("the delay of restarts is reset only after the container has run for 10 minutes", () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(10_000_000), fc.nat(2 * BACK_OFF_RESET_MS), (count, startedMs, ranMs) => {
      const counted = countedRestarts({ count, startedMs }, startedMs + ranMs);
      expect(counted).toBe(ranMs >= BACK_OFF_RESET_MS ? 0 : count);
    }),
  );
});
