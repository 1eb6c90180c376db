import { expect, test } from "vitest";
import { findNearest } from "../../src/policy/nearest.ts";

test.for([
  ["drain-dely", ["drain-delay", "driver"], "drain-delay"],
  ["mdoe", ["mode", "port"], undefined],
  ["ports", ["port", "mode"], "port"],
  ["rain-delay", ["drain-delay"], "drain-delay"],
  ["abc", ["abd", "abe"], "abd"],
  ["abcdef", ["abcxyz"], undefined],
  ["abcdef", ["abcdxy"], "abcdxy"],
  ["", ["a"], undefined],
] as const)("the suggestion for %j among %j is %j", ([name, candidates, suggestion]) => {
  expect(findNearest(name, candidates)).toBe(suggestion);
});

test("a suggestion depends only on the first 64 characters of a name", () => {
  const name = "a".repeat(64);
  expect(findNearest(`${name}${"b".repeat(1_000)}`, [name])).toBe(name);
  expect(findNearest(name, [`${name}${"b".repeat(1_000)}`])).toBe(`${name}${"b".repeat(1_000)}`);
});
