/** The moments a drain is planned by, all counted from the trigger and never from a tick. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { RelayReported } from "./drain-event.ts";
import type { Drain, RelayStatus } from "./drain-state.ts";

/** kubelet leaves a native sidecar 2 s after its signal when the grace period is over; some of it is for our exit. */
const LAST_SECONDS_MS = 1_800;
/** Between the end of a shortened drain and the app's own budget. */
const SHORTENED_MARGIN_MS = 2_000;
const SHORTEST_DRAIN_MS = 1_000;
/** Slices lag; a Pod that they show untouched for this long is being stopped by its kubelet alone. */
const SLICES_LAG_MS = 5_000;

/** The Pod serves until then in any case. */
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
 * The deadline that a shorter real grace period leaves: the app's budget is kept, and the drain is cut. Only the drain
 * delay stays, up to half of the time: an app that is stopped before proxies have applied the withdrawal drops
 * requests, whatever its budget.
 */
export function shortenedDeadlineMs(settings: DrainSettings, drain: Drain, graceSeconds: number): number {
  const { triggeredAtMs, deadlineMs } = drain;
  const affordableMs = triggeredAtMs + graceSeconds * 1_000 - settings.appGraceMs - SHORTENED_MARGIN_MS;
  const delayMs = Math.min(settings.drainDelayMs, (graceSeconds * 1_000) / 2);
  return Math.min(deadlineMs, Math.max(affordableMs, triggeredAtMs + Math.max(delayMs, SHORTEST_DRAIN_MS)));
}

/** A held mesh proxy, or our own preStop in classic mode, outlasts the app but never its budget. */
export function holdingBoundMs(settings: DrainSettings, fromMs: number): number {
  return fromMs + settings.appGraceMs;
}

/** Applies a report of the relay. It confirms that the Pod ends and never denies it: another replica may lag. */
export function applyReport(relay: RelayStatus, reported: RelayReported): RelayStatus {
  const { offered, reason, nowMs } = reported;
  const terminating = relay.terminating || reported.terminating;
  const askedAtMs = relay.askedAtMs < 0 ? nowMs : relay.askedAtMs;
  const answerMs = relay.answerMs < 0 && reported.answered ? nowMs - askedAtMs : relay.answerMs;
  const next: RelayStatus = { ...relay, offered, terminating, reason, askedAtMs, answerMs };
  if (offered === "in") return { ...next, withdrawnAtMs: -1, outFromMs: -1 };
  if (offered === "unknown") return relay.offered === "in" ? { ...next, silentFromMs: nowMs } : next;
  if (relay.withdrawnAtMs >= 0) return next;
  // The Pod was withdrawn at some time during a silence: the silence must not make the drain longer.
  const outFromMs = relay.offered === "in" ? nowMs : relay.silentFromMs;
  return { ...next, withdrawnAtMs: nowMs, outFromMs };
}

/** The planned end of the withdrawing phase, deregistration delay included, as far as it is known now. */
export function withdrawalEndMs(settings: DrainSettings, relay: RelayStatus, drain: Drain): number {
  const withdrawnMs = withdrawnByMs(settings, relay, drain.triggeredAtMs);
  // Still offered, and terminating: only the relay or the deadline ends this.
  if (withdrawnMs < 0) return drain.deadlineMs;
  return withdrawnMs + settings.deregistrationDelayMs;
}

/** -1 while slices still offer a terminating Pod. */
export function withdrawnByMs(settings: DrainSettings, relay: RelayStatus, triggeredAtMs: number): number {
  // A relay that becomes silent after reporting the withdrawal does not undo it: load balancers still get their time.
  if (relay.offered !== "in") return Math.max(floorEndMs(settings, triggeredAtMs), relay.outFromMs);
  if (relay.terminating) return -1;
  return triggeredAtMs + Math.max(settings.drainDelayMs, SLICES_LAG_MS);
}
