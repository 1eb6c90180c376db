/** The clock that tests move is in the binary that tests play stories with, and in no other. */
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { NATIVE_BUILD } from "../manager/builds.ts";

const VARIABLE = "LASTCALL_TEST_CLOCK";

test.skipIf(NATIVE_BUILD.command === "")("what is released knows no clock but the kernel's", () => {
  expect(readFileSync(inject("clockedManager")).includes(VARIABLE)).toBe(true);
  expect(readFileSync(inject("nativeManager")).includes(VARIABLE)).toBe(false);
});
