/** Lays two transcripts side by side. Pure. */
import type { Transcript } from "./transcript.ts";

/**
 * The programs run at once on a machine that has two cores for all tests: either may be held up for hundreds of
 * milliseconds that the other is not. The scenarios keep waits apart by more than this.
 */
export const TOLERANCE_MS = 1_500;

/**
 * @param toleranceMs at least {@link TOLERANCE_MS}, and as much more as the machine held up the test itself
 * @returns one sentence per time that differs by more than the tolerance, or that one side does not have
 */
export function differentTimes(one: Transcript, other: Transcript, toleranceMs: number): string[] {
  const names = new Set([...Object.keys(one.times), ...Object.keys(other.times)]);
  return [...names].flatMap((name) => {
    const left = one.times[name];
    const right = other.times[name];
    const same = left !== undefined && right !== undefined && Math.abs(left - right) <= toleranceMs;
    return same ? [] : [`${name}: ${inWords(left)} and ${inWords(right)}`];
  });
}

function inWords(ms: number | undefined): string {
  return ms === undefined ? "never" : `${Math.round(ms)} ms`;
}

/** Further apart than two things that come together are seen on a machine at rest. */
export const APART_MS = 250;

/** @returns the pairs that come clearly in one order here and clearly in the other order there */
export function differentOrder(one: Transcript, other: Transcript, apartMs: number): string[] {
  const names = Object.keys(one.times).filter((name) => /^(log\[[0-9]+\]|[^.#[]+)$/.test(name));
  const gap = (side: Transcript, from: string, to: string) => (side.times[to] ?? 0) - (side.times[from] ?? 0);
  return names.flatMap((from) =>
    names
      .filter((to) => gap(one, from, to) > apartMs && gap(other, from, to) < -apartMs)
      .map((to) => `${from} comes before ${to} here and after it there`),
  );
}
