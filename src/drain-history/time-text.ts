/** Formats durations, instants and the ticks of a time axis. Pure. */

/** Returns a text such as `350ms`, `7.4s`, `90s`, `2m 5s`, `3h 4m`. */
export function spanText(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)}ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 1_200) return `${tenths / 10}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return formatTwoUnits(Math.floor(seconds / 60), "m", seconds % 60, "s");
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1_440) return formatTwoUnits(Math.floor(minutes / 60), "h", minutes % 60, "m");
  const hours = Math.round(ms / 3_600_000);
  return formatTwoUnits(Math.floor(hours / 24), "d", hours % 24, "h");
}

function formatTwoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}

export function instantText(ms: number): string {
  if (!(Math.abs(ms) <= 8.64e15) || ms === 0) return "at an unknown time";
  return `${new Date(ms).toISOString().slice(0, -5).replace("T", " ")} UTC`;
}

type Tick = { readonly atMs: number; readonly text: string };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS_MS: readonly number[] = [
  ...[100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
];
const STEPS_LIMIT = 10;

export function ticksTo(endMs: number): readonly Tick[] {
  const fits = (stepMs: number): boolean => endMs / stepMs <= STEPS_LIMIT;
  const stepMs = STEPS_MS.find(fits) ?? Math.ceil(endMs / STEPS_LIMIT / DAY_MS) * DAY_MS;
  const tickCount = Math.floor(endMs / stepMs) + 1;
  return Array.from({ length: tickCount }, (_, index) => ({
    atMs: index * stepMs,
    text: index === 0 ? "0" : spanText(index * stepMs),
  }));
}
