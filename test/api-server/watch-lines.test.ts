import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "../../src/api-server/watch-event.ts";

test("watch lines are parsed wherever their bytes are split", () => {
  const text = fc.array(
    fc.string({ unit: "grapheme", minLength: 1 }).filter((line) => !/[\n\r]/.test(line) && line.trim() !== ""),
  );
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const splitLines = createLineSplitter();
      const readLines: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        readLines.push(...splitLines(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(readLines).toEqual(lines);
    }),
  );
});

test("a watch line that exceeds the limit is an error", () => {
  const splitLines = createLineSplitter(100);
  splitLines(Buffer.alloc(100, "a"));
  expect(() => splitLines(Buffer.from("a"))).toThrow("longer than 100");
});

test("the limit of a watch line allows the largest stored object with each byte escaped", () => {
  const line = JSON.stringify({ type: "ADDED", object: { message: "\u0001".repeat(1.5 * 1024 * 1024) } });
  const splitLines = createLineSplitter();
  const half = line.length / 2;
  expect(splitLines(Buffer.from(line.slice(0, half)))).toEqual([]);
  expect(splitLines(Buffer.from(line.slice(half)))).toEqual([]);
  expect(splitLines(Buffer.from("\n")).map((completed) => completed.length)).toEqual([line.length]);
});
