/** Computes retry delays: exponential with jitter, or from `Retry-After`. */

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Doubles the delay up to 30 s. Half of the delay is random, so that replicas do not retry at the same time.
 *
 * @param failureCount number of consecutive failures; 0 gives no delay
 * @param random at least 0 and below 1
 * @returns milliseconds
 */
export function retryDelayMs(failureCount: number, random: number): number {
  if (failureCount <= 0) return 0;
  const fullDelayMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failureCount - 1, 16));
  return Math.round(fullDelayMs / 2 + (fullDelayMs / 2) * random);
}

/** Limit for `Retry-After`. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * @param header `Retry-After` in whole seconds, which is what the API server sends
 * @returns milliseconds; 0 for a missing or malformed header
 */
export function parseRetryAfterMs(header: string | undefined): number {
  if (header === undefined || !/^[0-9]{1,9}$/.test(header)) return 0;
  return Math.min(LONGEST_RETRY_AFTER_MS, Number(header) * 1_000);
}
