import { expect, test } from "vitest";
import { nearest } from "../../src/policy/nearest.ts";

test.for([
  ["drain-dely", ["drain-delay", "driver"], "drain-delay"],
  ["mdoe", ["mode", "port"], undefined],
  ["ports", ["port", "mode"], "port"],
  ["rain-delay", ["drain-delay"], "drain-delay"],
  ["abc", ["abd", "abe"], "abd"],
  ["abcdef", ["abcxyz"], undefined],
  ["abcdef", ["abcdxy"], "abcdxy"],
  ["", ["a"], undefined],
] as const)("%j among %j is meant to be %j", ([word, candidates, meant]) => {
  expect(nearest(word, candidates)).toBe(meant);
});

test("only the first 64 characters of a long word are compared", () => {
  const word = "a".repeat(64);
  expect(nearest(`${word}${"b".repeat(1_000)}`, [word])).toBe(word);
  expect(nearest(word, [`${word}${"b".repeat(1_000)}`])).toBe(`${word}${"b".repeat(1_000)}`);
});
