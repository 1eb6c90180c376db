import fc from "fast-check";
import { expect, test } from "vitest";
import { lineSplitter } from "../../src/api-server/watch-event.ts";

test("watch lines are parsed wherever their bytes are split", () => {
  const text = fc.array(
    fc.string({ unit: "grapheme", minLength: 1 }).filter((line) => !/[\n\r]/.test(line) && line.trim() !== ""),
  );
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const completeLines = lineSplitter();
      const read: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        read.push(...completeLines(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(read).toEqual(lines);
    }),
  );
});

test("a watch line that exceeds the limit is an error", () => {
  const completeLines = lineSplitter(100);
  completeLines(Buffer.alloc(100, "a"));
  expect(() => completeLines(Buffer.from("a"))).toThrow("longer than 100");
});

test("the limit of a watch line allows the largest stored object with each byte escaped", () => {
  const line = JSON.stringify({ type: "ADDED", object: { message: "\u0001".repeat(1.5 * 1024 * 1024) } });
  const completeLines = lineSplitter();
  const half = line.length / 2;
  expect(completeLines(Buffer.from(line.slice(0, half)))).toEqual([]);
  expect(completeLines(Buffer.from(line.slice(half)))).toEqual([]);
  expect(completeLines(Buffer.from("\n")).map((whole) => whole.length)).toEqual([line.length]);
});
