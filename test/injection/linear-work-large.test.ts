/** Runs the tests of `linear-work.test.ts` with larger Pods, which takes two minutes. */
import { describe, test } from "vitest";
import { expectLinearWork } from "./linear-growth.ts";
import { SHAPES } from "./linear-shapes.ts";

const MANIFEST_SIZES: readonly number[] = [10, 100, 1_000, 5_000, 10_000];
/** Numbers of elements of which a manifest cannot contain thousands; larger numbers would take some minutes longer. */
const OTHER_SIZES: readonly number[] = [10, 100, 1_000, 2_000];

describe("the work of a large admission is at most linear in", { timeout: 300_000 }, () => {
  test.for(SHAPES)("the number of $title", (shape) =>
    expectLinearWork(shape, shape.isFeasibleInManifest ? MANIFEST_SIZES : OTHER_SIZES),
  );
});
