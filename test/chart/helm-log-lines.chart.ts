import { expect, test } from "vitest";
import { removeInfoLines } from "./rendering.ts";

const INFO_LINE = `I1122 01:07:46.071519   30752 reflector.go:664] "Warning: watch ended with error" err="context canceled"\n`;
const WARNING_LINE = 'W1122 01:07:46.071519   30752 warnings.go:70] unknown field "spec.more"\n';

test("informational log lines of Helm's API client do not count as warnings", () => {
  expect(removeInfoLines(`${INFO_LINE}${INFO_LINE}`)).toBe("");
});

test("Helm's warnings and errors are found among other log lines", () => {
  const error = "Error: UPGRADE FAILED: pre-upgrade hooks failed\n";
  expect(removeInfoLines(`${INFO_LINE}${WARNING_LINE}${INFO_LINE}${error}`)).toBe(`${WARNING_LINE}${error}`);
  expect(removeInfoLines(`Error: ${INFO_LINE}`)).toBe(`Error: ${INFO_LINE}`);
});
