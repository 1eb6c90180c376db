/** Splits a byte stream into lines of limited length, and limits the rate of a stream. */
import type { NowMs } from "./ports.ts";

type LineBuffer = {
  readonly take: (chunk: Buffer) => readonly string[] | undefined;
};

const NEWLINE = 10;

export function createLineBuffer(limitBytes: number): LineBuffer {
  // Chunks can split a UTF-8 character, so only complete lines are decoded.
  let parts: Buffer[] = [];
  let size = 0;
  let broken = false;

  const keep = (part: Buffer): void => {
    size = size + part.length;
    if (size > limitBytes) broken = true;
    // A copy, because a subarray would keep the whole chunk in memory.
    else if (part.length > 0) parts.push(Buffer.from(part));
  };

  const whole = (): string => {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    size = 0;
    return line;
  };

  return {
    take: (chunk) => {
      const lines: string[] = [];
      let from = 0;
      let end = broken ? -1 : chunk.indexOf(NEWLINE);
      while (end >= 0 && !broken) {
        keep(chunk.subarray(from, end));
        if (!broken) lines.push(whole());
        from = end + 1;
        end = chunk.indexOf(NEWLINE, from);
      }
      if (!broken) keep(chunk.subarray(from));
      if (broken) parts = [];
      return broken ? undefined : lines;
    },
  };
}

type RateLimit = {
  readonly admits: (bytes: number, lines: number) => boolean;
};

type RateLimits = { readonly bytes: number; readonly lines: number };

const WINDOW_MS = 1_000;

export function createRateLimit(limits: RateLimits, nowMs: NowMs): RateLimit {
  let fromMs = nowMs();
  let byteCount = 0;
  let lineCount = 0;
  return {
    admits: (bytes, lines) => {
      const atMs = nowMs();
      if (atMs - fromMs > WINDOW_MS) {
        fromMs = atMs;
        byteCount = 0;
        lineCount = 0;
      }
      byteCount = byteCount + bytes;
      lineCount = lineCount + lines;
      return byteCount <= limits.bytes && lineCount <= limits.lines;
    },
  };
}
