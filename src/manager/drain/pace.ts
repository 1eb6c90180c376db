/** Computes the intervals of samples and counts: rare during delays, frequent near the end of a drain. Pure. */
import { criterionOf, isCounted } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { delayEndMs } from "./drain-plan.ts";
import type { LastCount, LastSample } from "./drain-state.ts";

/** New connections are dated by the sample that finds them, so they can lengthen a drain by this much. */
export const SAMPLE_MS = 150;
export const COUNT_MS = 200;
/**
 * Limits samples of thousands of sockets to 1 % of a core. By number, not by duration: a busy node makes samples slow, and must not
 * make drains longer.
 */
const BUSY_MS_PER_SOCKET = 0.5;
/** 5 % in a quiet Pod, where the end of the drain depends on frequent samples. */
const QUIET_MS_PER_SOCKET = 0.1;
/**
 * With very many sockets each costs up to 6 µs, because they no longer fit the CPU caches. A drain that ends at its second sample
 * takes two samples in one interval: 5 % of a core; a longer one takes half of it.
 */
const CROWD_MS_PER_SOCKET = 0.25;

/** Cumulative counts need an earlier one, so they start before the drain of the driver. */
export function countsBeforeDraining(settings: DrainSettings): boolean {
  return driverRow(settings.driver).isCumulative && isCounted(criterionOf(settings));
}

/** Start of early counts, so that a quiet period can be over at the end of the delays; the first count is the baseline. */
export function earlyCountMs(settings: DrainSettings, triggeredAtMs: number): number {
  const endMs = delayEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs;
  return endMs - settings.quietPeriodMs - 2 * COUNT_MS;
}

/** The count at the end of the quiet period is not delayed to the next regular one. */
export function nextCountMs(settings: DrainSettings, count: LastCount, nowMs: number): number {
  const regularMs = count.atMs + COUNT_MS;
  const dueMs = count.zeroSinceMs + settings.quietPeriodMs;
  return count.zeroSinceMs >= 0 && dueMs > nowMs ? Math.min(dueMs, regularMs) : regularMs;
}

/** Time from a sample to the next one. */
export function paceMs(settings: DrainSettings, sample: LastSample, leastMs: number): number {
  if (!isExact(settings, sample)) return Math.max(leastMs, crowdPaceMs(sample));
  const spacedMs = sample.sockets * (isQuietNow(sample) ? QUIET_MS_PER_SOCKET : BUSY_MS_PER_SOCKET);
  // The kernel dates traffic, so one sample per quiet period is enough.
  return Math.max(leastMs, Math.min(settings.quietPeriodMs, spacedMs));
}

export function crowdPaceMs(sample: LastSample): number {
  return sample.sockets * CROWD_MS_PER_SOCKET;
}

/** Whether samples are cheap enough to take one at each planned time. */
export function isExact(settings: DrainSettings, sample: LastSample): boolean {
  return crowdPaceMs(sample) <= settings.quietPeriodMs;
}

export function isQuietNow(sample: LastSample): boolean {
  return sample.observation.known && sample.observation.activity === "quiet";
}

export function earliest(oneMs: number, otherMs: number): number {
  if (oneMs < 0) return otherMs;
  return otherMs < 0 ? oneMs : Math.min(oneMs, otherMs);
}
