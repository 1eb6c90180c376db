/** `linear-work.test.ts` for sizes that take two minutes. */
import { describe, test } from "vitest";
import { expectLinearWork } from "./linear-growth.ts";
import { SHAPES } from "./linear-shapes.ts";

const WRITTEN: readonly number[] = [10, 100, 1_000, 5_000, 10_000];
/** The other shapes are similar work and would take minutes more. */
const OTHERS: readonly number[] = [10, 100, 1_000, 2_000];

describe("the time of a large admission is at most linear in", { timeout: 300_000 }, () => {
  test.for(SHAPES)("the number of $of", (shape) => expectLinearWork(shape, shape.isWritten ? WRITTEN : OTHERS));
});
