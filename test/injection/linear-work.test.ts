/**
 * The work of an admission grows no faster than the Pod. Counted in steps, and without the limits that keep such Pods
 * away: what is inside them must not depend on their being low. `linear-work-large.test.ts` goes on to 10 000.
 */
import { describe, test } from "vitest";
import { expectLinearWork } from "./linear-growth.ts";
import { SHAPES } from "./linear-shapes.ts";

describe("the steps of an admission grow no faster than", () => {
  test.for(SHAPES)("the number of $of", (shape) => expectLinearWork(shape, [10, 300, 600]));
});
