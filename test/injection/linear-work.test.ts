/**
 * The work of an admission grows no faster than the Pod. It is counted in steps, without the limits that refuse such
 * Pods, so that a raised limit stays safe. `linear-work-large.test.ts` goes up to 10 000.
 */
import { describe, test } from "vitest";
import { expectLinearWork } from "./linear-growth.ts";
import { SHAPES } from "./linear-shapes.ts";

describe("the time of an admission is at most linear in", () => {
  test.for(SHAPES)("the number of $of", (shape) => expectLinearWork(shape, [10, 300, 600]));
});
