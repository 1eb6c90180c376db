/**
 * Paces the reading of large bodies from clients without an answered review, all together. Reading and decrypting at full
 * speed would take the whole core from concurrent admissions.
 */

/** 0.2 s for a single body of the largest size; a tenth of a core for many. */
const UNKNOWN_BYTES_PER_SECOND = 32 * 1024 * 1024;

/** Accounts for read bytes. @returns milliseconds for which the body must not be read */
export type Pace = (bytes: number, nowMs: number) => number;

export function unknownClientPace(bytesPerSecond: number = UNKNOWN_BYTES_PER_SECOND): Pace {
  let paidUntilMs = Number.NEGATIVE_INFINITY;
  return (bytes, nowMs) => {
    paidUntilMs = Math.max(paidUntilMs, nowMs) + (bytes / bytesPerSecond) * 1_000;
    return paidUntilMs - nowMs;
  };
}
