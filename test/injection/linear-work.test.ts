/**
 * The work of an admission, counted in steps, grows at most as fast as the Pod. The tests disable the limits on Pods, so these
 * limits can be raised safely. `linear-work-large.test.ts` has sizes up to 10 000.
 */
import { describe, test } from "vitest";
import { expectLinearWork } from "./linear-growth.ts";
import { SHAPES } from "./linear-shapes.ts";

describe("the work of an admission is at most linear in", () => {
  test.for(SHAPES)("the number of $title", (shape) => expectLinearWork(shape, [10, 300, 600]));
});
