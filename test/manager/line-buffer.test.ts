import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineBuffer } from "../../src/manager/line-buffer.ts";

describe("a line buffer", () => {
  test("returns the same lines for any division of the text into chunks", () => {
    const anyLine = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\n", ""));
    fc.assert(
      fc.property(fc.array(anyLine), fc.array(fc.nat({ max: 30 })), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const buffer = createLineBuffer(1_000);
        const readLines: string[] = [];
        let from = 0;
        for (const size of [...sizes, bytes.length]) {
          readLines.push(...(buffer.addChunk(bytes.subarray(from, from + size)) ?? ["broken"]));
          from += size;
        }
        expect(readLines).toEqual(lines.map((text) => Buffer.from(text).toString("utf8")));
      }),
    );
  });

  test("accepts a line at the length limit, and rejects all text after a longer line", () => {
    const buffer = createLineBuffer(4);
    expect(buffer.addChunk(Buffer.from("1234\n12"))).toEqual(["1234"]);
    expect(buffer.addChunk(Buffer.from("345"))).toBeUndefined();
    expect(buffer.addChunk(Buffer.from("\n1\n"))).toBeUndefined();
  });
});
