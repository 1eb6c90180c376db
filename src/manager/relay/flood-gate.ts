/** Who sends more than anybody needs to wears down the Pod's CPU: a bound on bytes and lines per second. */
import type { NowMs } from "../ports.ts";

export type FloodGate = {
  /** @returns false once more came within a second than is allowed */
  readonly admits: (bytes: number, lines: number) => boolean;
};

export type FloodLimits = { readonly bytes: number; readonly lines: number };

const WINDOW_MS = 1_000;

export function createFloodGate(limits: FloodLimits, nowMs: NowMs): FloodGate {
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
