/** Tests that untrusted text is printed as one line of ASCII, within its limit of characters. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/contract/untrusted-text.ts";

describe("untrusted text", () => {
  test.for([
    { text: "web-0", limit: 10, shown: "web-0" },
    { text: "a\u{1F600}b", limit: 10, shown: "a??b" },
    { text: "\u{1F600}\u{1F600}\u{1F600}", limit: 6, shown: "??????" },
    { text: "\u{1F600}\u{1F600}\u{1F600}\u{1F600}", limit: 6, shown: "???..." },
    { text: "ab\u{10FFFF}", limit: 3, shown: "..." },
    { text: "half \uD83D of one", limit: 20, shown: "half ? of one" },
    { text: "and so on…", limit: 20, shown: "and so on..." },
    { text: "two\nlines\u2028three\u0000", limit: 20, shown: "two?lines?three?" },
  ])("is shown as $shown", ({ text, limit, shown }) => {
    expect(plainText(text, limit)).toBe(shown);
  });

  test("is printable and within its limit, even with surrogate pairs and single surrogates", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("a", "\u{1F600}", "\uD83D", "\uDE00", "…") }),
    );
    fc.assert(
      fc.property(anyText, fc.integer({ min: 3, max: 40 }), (text, limit) => {
        const printedText = plainText(text, limit);
        expect(printedText).toMatch(/^[\x20-\x7e]*$/);
        expect(printedText.length).toBeLessThanOrEqual(limit);
        expect(plainText(printedText, limit)).toBe(printedText);
      }),
    );
  });
});
