import { expect, test } from "vitest";
import { growthOf } from "./growth.ts";

const roundsOf = (kib: readonly number[], hoursEach = 4, descriptors: readonly number[] = []) =>
  kib.map((residentKib, n) => ({ hours: (n + 1) * hoursEach, residentKib, descriptors: descriptors[n] ?? 9 }));

test("memory that is constant after the first rounds is not reported as growth", () => {
  expect(growthOf(roundsOf([400, 600, 620, 620, 624, 620])).problem).toBe("");
});

test("memory that grows in every round is reported in KiB a day", () => {
  const { kibPerDay, problem } = growthOf(roundsOf([400, 500, 600, 700, 800, 900]));
  expect(kibPerDay).toBeCloseTo(600);
  expect(problem).toBe("it grows by 600 KiB a day, more than 256");
});

test("one additional open file descriptor is reported as growth", () => {
  expect(growthOf(roundsOf([600, 600, 600, 600, 600], 4, [9, 9, 9, 9, 10])).problem).toBe(
    "1 descriptors more than after the warm-up",
  );
});

test("fewer than five rounds are reported as too few to measure growth", () => {
  expect(growthOf(roundsOf([600, 600, 600, 600])).problem).toBe("4 rounds are too few");
});
