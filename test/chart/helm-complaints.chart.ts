import { expect, test } from "vitest";
import { complaintsIn } from "./rendering.ts";

const BROKEN_OFF = `I1122 01:07:46.071519   30752 reflector.go:664] "Warning: watch ended with error" err="context canceled"\n`;
const WARNING = 'W1122 01:07:46.071519   30752 warnings.go:70] unknown field "spec.more"\n';

test("informational log lines of Helm's API client do not count as warnings", () => {
  expect(complaintsIn(`${BROKEN_OFF}${BROKEN_OFF}`)).toBe("");
});

test("Helm's warnings and errors are found among other log lines", () => {
  const error = "Error: UPGRADE FAILED: pre-upgrade hooks failed\n";
  expect(complaintsIn(`${BROKEN_OFF}${WARNING}${BROKEN_OFF}${error}`)).toBe(`${WARNING}${error}`);
  expect(complaintsIn(`Error: ${BROKEN_OFF}`)).toBe(`Error: ${BROKEN_OFF}`);
});
