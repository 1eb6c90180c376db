/** Tests that the test clock is linked only into the binary for tests. */
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { NATIVE_BUILD } from "../manager/builds.ts";

const VARIABLE = "LASTCALL_TEST_CLOCK";

test.skipIf(NATIVE_BUILD.command === "")("the released binary of the manager does not contain the test clock", () => {
  expect(readFileSync(inject("clockedManager")).includes(VARIABLE)).toBe(true);
  expect(readFileSync(inject("nativeManager")).includes(VARIABLE)).toBe(false);
});
