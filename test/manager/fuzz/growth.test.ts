import { expect, test } from "vitest";
import { growthOf } from "./growth.ts";

const rounds = (kib: readonly number[], hoursEach = 4, descriptors: readonly number[] = []) =>
  kib.map((residentKib, n) => ({ hours: (n + 1) * hoursEach, residentKib, descriptors: descriptors[n] ?? 9 }));

test("memory that settles after the first rounds does not grow", () => {
  expect(growthOf(rounds([400, 600, 620, 620, 624, 620])).verdict).toBe("");
});

test("memory that rises steadily grows, told for a day", () => {
  const { kibPerDay, verdict } = growthOf(rounds([400, 500, 600, 700, 800, 900]));
  expect(kibPerDay).toBeCloseTo(600);
  expect(verdict).toBe("it grows by 600 KiB a day, more than 256");
});

test("one descriptor that stays open is growth", () => {
  expect(growthOf(rounds([600, 600, 600, 600, 600], 4, [9, 9, 9, 9, 10])).verdict).toBe(
    "1 descriptors more than after the warm-up",
  );
});

test("too few rounds tell nothing", () => {
  expect(growthOf(rounds([600, 600, 600, 600])).verdict).toBe("4 rounds are too few to tell");
});
