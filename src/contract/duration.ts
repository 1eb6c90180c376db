/**
 * Parses and formats durations. In code a duration is whole milliseconds in a name that ends in `Ms`; text appears only in
 * annotations, flags and environment variables.
 */

const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;

/**
 * Parses one number with one unit, such as `250ms`, `30s`, `2m` or `1h`. At most six digits, so that sums of durations stay
 * exact integers.
 *
 * @returns whole milliseconds, or `undefined` when the text is not a duration
 */
export function parseDurationMs(text: string): number | undefined {
  const match = /^([0-9]{1,6})(ms|s|m|h)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1] ?? "") * msPer(match[2] ?? "");
}

/** Returns a text that {@link parseDurationMs} reads back. Durations below two minutes, such as `60s` and `90s`, are in seconds. */
export function formatDuration(spanMs: number): string {
  if (spanMs > 0 && spanMs % MS_PER_HOUR === 0) return `${spanMs / MS_PER_HOUR}h`;
  if (spanMs > MS_PER_MINUTE && spanMs % MS_PER_MINUTE === 0) return `${spanMs / MS_PER_MINUTE}m`;
  if (spanMs % MS_PER_SECOND === 0) return `${spanMs / MS_PER_SECOND}s`;
  return `${spanMs}ms`;
}

function msPer(unit: string): number {
  if (unit === "h") return MS_PER_HOUR;
  if (unit === "m") return MS_PER_MINUTE;
  return unit === "s" ? MS_PER_SECOND : 1;
}
