/** How long to wait after something failed. */

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Doubles up to half a minute. Half of it is random, so that the replicas do not come back to the API server together.
 *
 * @param failures in a row; 0 waits for nothing
 * @param random at least 0 and below 1
 * @returns milliseconds
 */
export function retryDelayMs(failures: number, random: number): number {
  if (failures <= 0) return 0;
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(whole / 2 + (whole / 2) * random);
}

/** What a server may ask for at most: no header stops us for long. */
const LONGEST_ASKED_MS = 60_000;

/**
 * @param header `Retry-After` in whole seconds, which is what the API server sends
 * @returns milliseconds; 0 when it says nothing that can be obeyed
 */
export function retryAfterMs(header: string | undefined): number {
  if (header === undefined || !/^[0-9]{1,9}$/.test(header)) return 0;
  return Math.min(LONGEST_ASKED_MS, Number(header) * 1_000);
}
