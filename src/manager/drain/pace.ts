/** How often a drain samples the sockets and asks its driver: seldom while it must wait, often where the end is near. Pure. */
import { criterionOf, isCounted } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { floorEndMs } from "./drain-plan.ts";
import type { LastCount, LastSample } from "./drain-state.ts";

/** New connections are dated by the sample that finds them, so this is also the over-wait they can cause. */
export const SAMPLE_MS = 150;
/** How often a driver is asked. */
export const COUNT_MS = 200;
/**
 * Samples of thousands take 1 % of a core, so that it stays with the app. By number and not by the clock: a busy node
 * makes a sample long, and must not make a drain long.
 */
const BUSY_MS_PER_SOCKET = 0.5;
/** 5 % in a quiet Pod: a connection that comes and goes without a trace is dated by the sample that misses it. */
const QUIET_MS_PER_SOCKET = 0.1;
/**
 * A socket of a crowd costs up to 6 µs, since nothing of it is in a cache any more. A drain that is over at its second
 * sample has paid for two samples in the time of one pace: 5 % of a core then, and half of it in a drain that goes on.
 */
const CROWD_MS_PER_SOCKET = 0.25;

/** The driver's counts are differences, so they start before it is told to drain. */
export function countsBeforeDraining(settings: DrainSettings): boolean {
  return driverRow(settings.driver).isCumulative && isCounted(criterionOf(settings));
}

/** When such counts have to start to be of use at the earliest end of the delays; the first of them only sets the mark. */
export function earlyCountMs(settings: DrainSettings, triggeredAtMs: number): number {
  const floorMs = floorEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs;
  return floorMs - settings.quietPeriodMs - 2 * COUNT_MS;
}

/** The count that ends the drain comes when the quiet period is over, and not with the regular one after that. */
export function nextCountMs(settings: DrainSettings, count: LastCount, nowMs: number): number {
  const regularMs = count.atMs + COUNT_MS;
  const dueMs = count.zeroSinceMs + settings.quietPeriodMs;
  return count.zeroSinceMs >= 0 && dueMs > nowMs ? Math.min(dueMs, regularMs) : regularMs;
}

/** How long after a sample the next one is early enough. */
export function paceMs(settings: DrainSettings, sample: LastSample, leastMs: number): number {
  if (!isExact(settings, sample)) return Math.max(leastMs, crowdPaceMs(sample));
  const spacedMs = sample.sockets * (isQuietNow(sample) ? QUIET_MS_PER_SOCKET : BUSY_MS_PER_SOCKET);
  // Traffic is dated by the kernel, so a sample within the quiet period is early enough.
  return Math.max(leastMs, Math.min(settings.quietPeriodMs, spacedMs));
}

/** Samples closer together than this would cost more than the app can spare. */
export function crowdPaceMs(sample: LastSample): number {
  return sample.sockets * CROWD_MS_PER_SOCKET;
}

/** Whether the moments that matter have a sample of their own. Where samples are dear, they wait for the next one. */
export function isExact(settings: DrainSettings, sample: LastSample): boolean {
  return crowdPaceMs(sample) <= settings.quietPeriodMs;
}

export function isQuietNow(sample: LastSample): boolean {
  return sample.observation.known && sample.observation.activity === "quiet";
}

/** The smaller of two moments, of which -1 is "never". */
export function earliest(oneMs: number, otherMs: number): number {
  if (oneMs < 0) return otherMs;
  return otherMs < 0 ? oneMs : Math.min(oneMs, otherMs);
}
