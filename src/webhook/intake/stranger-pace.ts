/**
 * How fast the large bodies of strangers are read, all of them together. To read and decrypt at full speed would take the
 * whole core from the admissions beside it; who has had one review answered is read as fast as it sends.
 */

/** 0.2 s for the largest body when there is only one, a tenth of a core when there are many. */
const STRANGER_BYTES_PER_SECOND = 32 * 1024 * 1024;

/** Remembers the bytes as a debt that is worked off with time. Answers for how many milliseconds to read no more of that body. */
export type Pace = (bytes: number, nowMs: number) => number;

export function strangerPace(bytesPerSecond: number = STRANGER_BYTES_PER_SECOND): Pace {
  let paidUntilMs = Number.NEGATIVE_INFINITY;
  return (bytes, nowMs) => {
    paidUntilMs = Math.max(paidUntilMs, nowMs) + (bytes / bytesPerSecond) * 1_000;
    return paidUntilMs - nowMs;
  };
}
