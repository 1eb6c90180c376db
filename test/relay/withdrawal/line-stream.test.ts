import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineStream, type LineStream } from "../../../src/relay/withdrawal/stream-set.ts";

const LIMITS = { repeatMs: 10_000, stallMs: 20_000, lifeMs: 100_000 };

/** Creates a stream and a client that reads one line per call of `readLine`. */
function createReader(): { written: string[]; readLine: (nowMs?: number) => void; ends: string[]; stream: LineStream } {
  const written: string[] = [];
  const ends: string[] = [];
  const pendingReads: ((nowMs: number) => void)[] = [];
  const sink = {
    write: (text: string, onWritten: (nowMs: number) => void) => {
      written.push(text);
      pendingReads.push(onWritten);
    },
    end: () => ends.push("end"),
    destroy: () => ends.push("cut"),
  };
  return {
    written,
    ends,
    readLine: (nowMs = 0) => pendingReads.shift()?.(nowMs),
    stream: createLineStream(sink, LIMITS, 0),
  };
}

describe("a fast client of a status stream", () => {
  test("receives every line, and the last one again while nothing changes", () => {
    const { stream, written, readLine } = createReader();
    stream.send("a", 0);
    readLine();
    stream.check(9_999);
    expect(written).toEqual(["a"]);
    stream.check(10_000);
    readLine();
    stream.send("b", 12_000);
    readLine();
    stream.check(21_000);
    expect(written).toEqual(["a", "a", "b"]);
    stream.check(22_000);
    expect(written).toEqual(["a", "a", "b", "b"]);
  });

  test("is disconnected at the time limit, and receives no line after that", () => {
    const { stream, written, readLine, ends } = createReader();
    stream.send("a", 0);
    readLine();
    stream.check(100_000);
    stream.send("b", 100_001);
    stream.check(200_000);
    stream.end();
    expect([written, ends]).toEqual([["a"], ["end"]]);
  });
});

describe("a slow client of a status stream", () => {
  test("receives the newest line, without superseded lines", () => {
    const { stream, written, readLine } = createReader();
    for (const line of ["a", "b", "c"]) stream.send(line, 0);
    expect(written).toEqual(["a"]);
    readLine();
    expect(written).toEqual(["a", "c"]);
    readLine();
    expect(written).toEqual(["a", "c"]);
  });

  test("stays connected while it reads a line now and then", () => {
    const { stream, written, ends, readLine } = createReader();
    stream.send("a", 0);
    stream.send("b", 1_000);
    readLine(15_000);
    stream.check(34_900);
    expect([written, ends]).toEqual([["a", "b"], []]);
    stream.check(35_000);
    expect(ends).toEqual(["cut"]);
  });

  test("is disconnected if it reads nothing, despite new lines", () => {
    const { stream, written, ends } = createReader();
    stream.send("a", 0);
    for (let nowMs = 1_000; nowMs < 20_000; nowMs += 1_000) {
      stream.send("b", nowMs);
      stream.check(nowMs);
    }
    expect([written, ends]).toEqual([["a"], []]);
    stream.check(20_000);
    expect(ends).toEqual(["cut"]);
  });
});

test("a status stream writes one line at a time, and a client that reads all gets the last line", () => {
  const anySteps = fc.array(fc.oneof(fc.nat(9).map(String), fc.constantFrom("take", "check")), { maxLength: 60 });
  fc.assert(
    fc.property(anySteps, (steps) => {
      const { stream, written, readLine } = createReader();
      let readCount = 0;
      let last: string | undefined;
      steps.forEach((step, nowMs) => {
        if (step === "check") stream.check(nowMs);
        else if (step === "take") {
          if (readCount < written.length) {
            readCount += 1;
            readLine();
          }
        } else {
          last = step;
          stream.send(step, nowMs);
        }
        expect(written.length - readCount).toBeLessThanOrEqual(1);
      });
      while (readCount < written.length) {
        readCount += 1;
        readLine();
      }
      expect(written.at(-1)).toBe(last);
    }),
  );
});
