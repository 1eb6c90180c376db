/**
 * Durations, the one unit every program shares.
 *
 * Inside the code a duration is whole milliseconds in a name that ends in `Ms`. Text forms appear only at the
 * edges: annotations, flags and environment variables.
 */

const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;

/**
 * Reads one number with one unit, for example `250ms`, `30s`, `2m` or `1h`.
 *
 * @returns whole milliseconds, or `undefined` when the text is not a duration. A number without a unit is
 * refused: `30` could mean either. At most six digits, so that no sum of durations leaves the integers.
 */
export function parseDurationMs(text: string): number | undefined {
  const match = /^([0-9]{1,6})(ms|s|m|h)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1] ?? "") * msPer(match[2] ?? "");
}

/** A text {@link parseDurationMs} reads back to the same span. People write `60s` and `90s`, and minutes from two on. */
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
