/**
 * Tests that the work of an admission, counted in steps, is at most linear in the Pod's size. The tests disable the limits on
 * Pods, so their results stay true if the limits are raised. `linear-work-large.test.ts` tests up to 10 000 elements.
 */
import { describe, test } from "vitest";
import { expectLinearWork } from "./linear-growth.ts";
import { SHAPES } from "./linear-shapes.ts";

describe("the work of an admission is at most linear in", () => {
  test.for(SHAPES)("the number of $title", (shape) => expectLinearWork(shape, [10, 300, 600]));
});
