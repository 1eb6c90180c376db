/** Splits a byte stream into lines of limited length, and limits the rate of a stream. */
import type { NowMs } from "./ports.ts";

type LineBuffer = {
  readonly addChunk: (chunk: Buffer) => readonly string[] | undefined;
};

const NEWLINE = 10;

export function createLineBuffer(limitBytes: number): LineBuffer {
  // Chunks can split a UTF-8 character, so only complete lines are decoded.
  let parts: Buffer[] = [];
  let sizeBytes = 0;
  let isTooLong = false;

  const append = (part: Buffer): void => {
    sizeBytes = sizeBytes + part.length;
    if (sizeBytes > limitBytes) isTooLong = true;
    // A copy, because a subarray would keep the whole chunk in memory.
    else if (part.length > 0) parts.push(Buffer.from(part));
  };

  const takeLine = (): string => {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    sizeBytes = 0;
    return line;
  };

  return {
    addChunk: (chunk) => {
      const lines: string[] = [];
      let from = 0;
      let end = isTooLong ? -1 : chunk.indexOf(NEWLINE);
      while (end >= 0 && !isTooLong) {
        append(chunk.subarray(from, end));
        if (!isTooLong) lines.push(takeLine());
        from = end + 1;
        end = chunk.indexOf(NEWLINE, from);
      }
      if (!isTooLong) append(chunk.subarray(from));
      if (isTooLong) parts = [];
      return isTooLong ? undefined : lines;
    },
  };
}

type RateLimit = {
  readonly admits: (bytes: number, lines: number) => boolean;
};

type RateLimits = { readonly bytes: number; readonly lines: number };

const WINDOW_MS = 1_000;

export function createRateLimit(limits: RateLimits, nowMs: NowMs): RateLimit {
  let windowStartMs = nowMs();
  let byteCount = 0;
  let lineCount = 0;
  return {
    admits: (bytes, lines) => {
      const atMs = nowMs();
      if (atMs - windowStartMs > WINDOW_MS) {
        windowStartMs = atMs;
        byteCount = 0;
        lineCount = 0;
      }
      byteCount = byteCount + bytes;
      lineCount = lineCount + lines;
      return byteCount <= limits.bytes && lineCount <= limits.lines;
    },
  };
}
