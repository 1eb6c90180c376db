/** Computes the intervals of samples and counts, which are long during delays and short near the end of a drain. Pure. */
import { criterionOf, isCounted } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { delayEndMs } from "./drain-plan.ts";
import type { LastCount, LastSample } from "./drain-state.ts";

/** A new connection counts from the sample that finds it, so a drain can end late by up to this interval. */
export const SAMPLE_INTERVAL_MS = 150;
export const COUNT_INTERVAL_MS = 200;
/**
 * Limits samples of thousands of sockets to 1 % of a core. Depends on the number of sockets and not on the duration of samples,
 * because a busy node makes samples slow, but must not lengthen drains.
 */
const BUSY_MS_PER_SOCKET = 0.5;
/** Limits samples in a quiet Pod to 5 % of a core. More than in a busy Pod, because the drain can end at each of these samples. */
const QUIET_MS_PER_SOCKET = 0.1;
/**
 * Minimum interval. With very many sockets each costs up to 6 µs, because they do not fit into the CPU caches. A drain that ends at
 * its second sample takes two samples in one interval, which is 5 % of a core; a longer drain needs half of that.
 */
const MINIMUM_MS_PER_SOCKET = 0.25;

/** Whether counts start before the driver's drain: a cumulative count is meaningful only in comparison with an earlier count. */
export function countsBeforeDraining(settings: DrainSettings): boolean {
  return driverRow(settings.driver).isCumulative && isCounted(criterionOf(settings));
}

/** Start of early counts: a quiet period and two counts before the end of the delays, so that a drain can end with the delays. */
export function earlyCountMs(settings: DrainSettings, triggeredAtMs: number): number {
  const endMs = delayEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs;
  return endMs - settings.quietPeriodMs - 2 * COUNT_INTERVAL_MS;
}

/** Time of the next count: at the end of the quiet period, or at the next regular interval if that is earlier. */
export function nextCountMs(settings: DrainSettings, count: LastCount, nowMs: number): number {
  const regularMs = count.atMs + COUNT_INTERVAL_MS;
  const dueMs = count.zeroSinceMs + settings.quietPeriodMs;
  return count.zeroSinceMs >= 0 && dueMs > nowMs ? Math.min(dueMs, regularMs) : regularMs;
}

/** Time from a sample to the next one. */
export function sampleIntervalMs(settings: DrainSettings, sample: LastSample, minimumMs: number): number {
  if (!areSamplesCheap(settings, sample)) return Math.max(minimumMs, minimumIntervalMs(sample));
  const spacedMs = sample.socketCount * (isQuietNow(sample) ? QUIET_MS_PER_SOCKET : BUSY_MS_PER_SOCKET);
  // The kernel stores the time of the last traffic, so one sample per quiet period is enough.
  return Math.max(minimumMs, Math.min(settings.quietPeriodMs, spacedMs));
}

/** Minimum time between samples, which only matters in a Pod with very many sockets. */
export function minimumIntervalMs(sample: LastSample): number {
  return sample.socketCount * MINIMUM_MS_PER_SOCKET;
}

/** Whether samples are cheap enough to take one at each planned time. */
export function areSamplesCheap(settings: DrainSettings, sample: LastSample): boolean {
  return minimumIntervalMs(sample) <= settings.quietPeriodMs;
}

export function isQuietNow(sample: LastSample): boolean {
  return sample.observation.known && sample.observation.activity === "quiet";
}

export function earliest(oneMs: number, otherMs: number): number {
  if (oneMs < 0) return otherMs;
  return otherMs < 0 ? oneMs : Math.min(oneMs, otherMs);
}
