import { expect, test } from "vitest";
import type { RunResult } from "./one-run.ts";
import { failuresByTest, stabilityTable } from "./stability-table.ts";

const failureOf = (test: string) => ({ test, message: `${test} is red` });
const RUNS: readonly RunResult[] = [
  { condition: "alone", tests: 9, failures: [], seconds: 41.6 },
  { condition: "alone", tests: 9, failures: [failureOf("a"), failureOf("b")], seconds: 40 },
  { condition: "frozen", tests: 9, failures: [failureOf("b")], seconds: 80 },
];

test("each condition has a row with its runs, failed runs and tests, and its shortest and longest run in seconds", () => {
  expect(stabilityTable(RUNS).split("\n").slice(2)).toEqual([
    "| alone | 2 | 1 | 9 | 40–42 |",
    "| frozen | 1 | 1 | 9 | 80–80 |",
  ]);
});

test("the test that failed most often is listed first, with its conditions and its message", () => {
  expect(failuresByTest(RUNS)).toEqual(["2 × b (alone, frozen)\nb is red", "1 × a (alone)\na is red"]);
});
