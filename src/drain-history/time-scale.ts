/** Round moments along a span of time, few enough to read. Pure. */
import { spanText } from "./span-text.ts";

export type Tick = { readonly atMs: number; readonly text: string };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS: readonly number[] = [
  ...[100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
];
const MOST_STEPS = 10;

/** From 0 to `endMs`; `endMs` must be finite. */
export function ticksTo(endMs: number): readonly Tick[] {
  const fits = (stepMs: number): boolean => endMs / stepMs <= MOST_STEPS;
  const stepMs = STEPS_MS.find(fits) ?? Math.ceil(endMs / MOST_STEPS / DAY) * DAY;
  const count = Math.floor(endMs / stepMs) + 1;
  return Array.from({ length: count }, (_, at) => ({
    atMs: at * stepMs,
    text: at === 0 ? "0" : spanText(at * stepMs),
  }));
}
