/** The moments a drain is planned by, all counted from the trigger and never from a tick. */
import type { DrainSettings } from "../../contract/drain-settings.ts";

/** kubelet leaves a native sidecar 2 s after its signal when the grace period is over; some of it is for our exit. */
const LAST_SECONDS_MS = 1_800;
/** Between the end of a shortened drain and the app's own budget. */
const SHORTENED_MARGIN_MS = 2_000;
const SHORTEST_DRAIN_MS = 1_000;

/** Until then the Pod serves whatever happens. */
export function floorEndMs(settings: DrainSettings, triggeredAtMs: number): number {
  return triggeredAtMs + settings.drainDelayMs;
}

export function plannedDeadlineMs(settings: DrainSettings, triggeredAtMs: number): number {
  return floorEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs + settings.drainTimeoutMs;
}

/** The deadline of a drain that only SIGTERM announced. In classic mode the kubelet's own kill is the only other bound. */
export function lastMinuteDeadlineMs(settings: DrainSettings, nowMs: number): number {
  const planned = plannedDeadlineMs(settings, nowMs);
  return settings.classic ? planned : Math.min(planned, nowMs + LAST_SECONDS_MS);
}

/**
 * What a shorter real grace period leaves: the app's budget is kept, and the drain gives way. Only the drain delay stays, up to
 * half of the time: an app that gets its signal before proxies have learnt of the withdrawal drops requests, whatever its budget.
 */
export function shortenedDeadlineMs(
  settings: DrainSettings,
  triggeredAtMs: number,
  deadlineMs: number,
  graceSeconds: number,
): number {
  const affordableMs = triggeredAtMs + graceSeconds * 1_000 - settings.appGraceMs - SHORTENED_MARGIN_MS;
  const delayMs = Math.min(settings.drainDelayMs, (graceSeconds * 1_000) / 2);
  return Math.min(deadlineMs, Math.max(affordableMs, triggeredAtMs + Math.max(delayMs, SHORTEST_DRAIN_MS)));
}

/** A held mesh proxy, or our own preStop in classic mode, outlasts the app but never its budget. */
export function holdingBoundMs(settings: DrainSettings, deadlineMs: number): number {
  return deadlineMs + settings.appGraceMs;
}
