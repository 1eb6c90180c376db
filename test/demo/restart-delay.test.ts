import fc from "fast-check";
import { expect, test } from "vitest";
import { countedRestarts, FORGIVEN_AFTER_MS, restartDelayMs } from "../../src/demo/pods/kubelet-rules.ts";

test("the first restart comes at once, the next after 10 s, then twice as long each time up to 5 minutes", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7].map(restartDelayMs)).toEqual([
    500, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
  ]);
});

test("a container that ran for 10 minutes is forgiven, and no other", () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(10_000_000), fc.nat(2 * FORGIVEN_AFTER_MS), (count, startedMs, ranMs) => {
      const counted = countedRestarts({ count, startedMs }, startedMs + ranMs);
      expect(counted).toBe(ranMs >= FORGIVEN_AFTER_MS ? 0 : count);
    }),
  );
});
