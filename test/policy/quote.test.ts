import { expect, test } from "vitest";
import { quote } from "../../src/policy/quote.ts";

test.for([
  ["90", '"90"'],
  ["a\nb\u2028c\u00e9", '"a?b?c?"'],
  ["x".repeat(40), `"${"x".repeat(40)}"`],
  ["x".repeat(41), `"${"x".repeat(40)}…"`],
])("the value %j is quoted in a message as %j", ([text = "", shown]) => {
  expect(quote(text)).toBe(shown);
});
