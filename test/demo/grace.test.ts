import fc from "fast-check";
import { expect, test } from "vitest";
import { podGraceSeconds, remainingGraceSeconds, stopSeconds } from "../../src/demo/pods/kubelet-rules.ts";

test("a hook of 1.9 seconds uses one second of the grace period", () => {
  expect(remainingGraceSeconds(30, 1_900)).toBe(29);
  expect(remainingGraceSeconds(30, 999)).toBe(30);
});

test("a container always has at least two seconds between its stop signal and SIGKILL", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_600 }), fc.integer({ min: 0, max: 4_000_000 }), (grace, elapsedMs) => {
      const seconds = stopSeconds(remainingGraceSeconds(grace, elapsedMs));
      expect(seconds).toBeGreaterThanOrEqual(2);
      expect(seconds).toBeLessThanOrEqual(Math.max(2, grace));
    }),
  );
});

test("a Pod without a grace period has 30 seconds, and a grace period of 0 stays 0", () => {
  expect(podGraceSeconds(undefined)).toBe(30);
  expect(podGraceSeconds(0)).toBe(0);
});
