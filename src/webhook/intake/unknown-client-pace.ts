/**
 * Limits the total rate at which large bodies of unknown clients are read. Reading and decrypting at full speed would take a
 * whole CPU core from concurrent admissions.
 */

/** At this rate, the largest body takes 0.2 s, and reading takes at most a tenth of a CPU core. */
const UNKNOWN_BYTES_PER_SECOND = 32 * 1024 * 1024;

/** Adds read bytes to the total of all bodies. @returns the pause before more of the body may be read, in milliseconds */
export type Pace = (bytes: number, nowMs: number) => number;

export function unknownClientPace(bytesPerSecond: number = UNKNOWN_BYTES_PER_SECOND): Pace {
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  return (bytes, nowMs) => {
    pausedUntilMs = Math.max(pausedUntilMs, nowMs) + (bytes / bytesPerSecond) * 1_000;
    return pausedUntilMs - nowMs;
  };
}
