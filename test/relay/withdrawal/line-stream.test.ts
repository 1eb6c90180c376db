import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineStream, type LineStream } from "../../../src/relay/withdrawal/stream-set.ts";

const LIMITS = { repeatMs: 10_000, stallMs: 20_000, lifeMs: 100_000 };

/** Creates a stream and a client that reads one line per call of `readLine`. */
function createStreamWithReader(): {
  writtenLines: string[];
  readLine: (nowMs?: number) => void;
  ends: string[];
  stream: LineStream;
} {
  const writtenLines: string[] = [];
  const ends: string[] = [];
  const pendingReads: ((nowMs: number) => void)[] = [];
  const sink = {
    write: (text: string, onWritten: (nowMs: number) => void) => {
      writtenLines.push(text);
      pendingReads.push(onWritten);
    },
    end: () => ends.push("end"),
    destroy: () => ends.push("cut"),
  };
  return {
    writtenLines,
    ends,
    readLine: (nowMs = 0) => pendingReads.shift()?.(nowMs),
    stream: createLineStream(sink, LIMITS, 0),
  };
}

describe("a fast client of a status stream", () => {
  test("receives every line, and the last line again until the next change", () => {
    const { stream, writtenLines, readLine } = createStreamWithReader();
    stream.send("a", 0);
    readLine();
    stream.check(9_999);
    expect(writtenLines).toEqual(["a"]);
    stream.check(10_000);
    readLine();
    stream.send("b", 12_000);
    readLine();
    stream.check(21_000);
    expect(writtenLines).toEqual(["a", "a", "b"]);
    stream.check(22_000);
    expect(writtenLines).toEqual(["a", "a", "b", "b"]);
  });

  test("is disconnected at the time limit, and does not receive a line after the disconnection", () => {
    const { stream, writtenLines, readLine, ends } = createStreamWithReader();
    stream.send("a", 0);
    readLine();
    stream.check(100_000);
    stream.send("b", 100_001);
    stream.check(200_000);
    stream.end();
    expect([writtenLines, ends]).toEqual([["a"], ["end"]]);
  });
});

describe("a slow client of a status stream", () => {
  test("receives the newest line, without superseded lines", () => {
    const { stream, writtenLines, readLine } = createStreamWithReader();
    for (const line of ["a", "b", "c"]) stream.send(line, 0);
    expect(writtenLines).toEqual(["a"]);
    readLine();
    expect(writtenLines).toEqual(["a", "c"]);
    readLine();
    expect(writtenLines).toEqual(["a", "c"]);
  });

  test("stays connected while it sometimes reads a line", () => {
    const { stream, writtenLines, ends, readLine } = createStreamWithReader();
    stream.send("a", 0);
    stream.send("b", 1_000);
    readLine(15_000);
    stream.check(34_900);
    expect([writtenLines, ends]).toEqual([["a", "b"], []]);
    stream.check(35_000);
    expect(ends).toEqual(["cut"]);
  });

  test("is disconnected if it does not read, despite new lines", () => {
    const { stream, writtenLines, ends } = createStreamWithReader();
    stream.send("a", 0);
    for (let nowMs = 1_000; nowMs < 20_000; nowMs += 1_000) {
      stream.send("b", nowMs);
      stream.check(nowMs);
    }
    expect([writtenLines, ends]).toEqual([["a"], []]);
    stream.check(20_000);
    expect(ends).toEqual(["cut"]);
  });
});

test("a status stream writes one line at a time, and a client that reads all lines gets the last line", () => {
  const anySteps = fc.array(fc.oneof(fc.nat(9).map(String), fc.constantFrom("take", "check")), { maxLength: 60 });
  fc.assert(
    fc.property(anySteps, (steps) => {
      const { stream, writtenLines, readLine } = createStreamWithReader();
      let readCount = 0;
      let lastLine: string | undefined;
      steps.forEach((step, nowMs) => {
        if (step === "check") stream.check(nowMs);
        else if (step === "take") {
          if (readCount < writtenLines.length) {
            readCount += 1;
            readLine();
          }
        } else {
          lastLine = step;
          stream.send(step, nowMs);
        }
        expect(writtenLines.length - readCount).toBeLessThanOrEqual(1);
      });
      while (readCount < writtenLines.length) {
        readCount += 1;
        readLine();
      }
      expect(writtenLines.at(-1)).toBe(lastLine);
    }),
  );
});
