/** Computes the times of a drain, all from the trigger and never from a tick. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { RelayReported } from "./drain-event.ts";
import type { Drain, RelayStatus } from "./drain-state.ts";

/** After the grace period the kubelet gives a native sidecar 2 s; the rest is for the manager's exit. */
const LAST_SECONDS_MS = 1_800;
/** Between the end of a shortened drain and the app's own grace period. */
const SHORTENED_MARGIN_MS = 2_000;
const SHORTEST_DRAIN_MS = 1_000;
/** Lag of EndpointSlices. A Pod that they still list as serving after this time is stopped by its kubelet alone. */
const SLICES_LAG_MS = 5_000;

export function delayEndMs(settings: DrainSettings, triggeredAtMs: number): number {
  return triggeredAtMs + settings.drainDelayMs;
}

export function plannedDeadlineMs(settings: DrainSettings, triggeredAtMs: number): number {
  return delayEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs + settings.drainTimeoutMs;
}

/** Deadline of a drain that SIGTERM started. In classic mode only the kubelet's kill bounds it further. */
export function lastMinuteDeadlineMs(settings: DrainSettings, nowMs: number): number {
  const planned = plannedDeadlineMs(settings, nowMs);
  return settings.classic ? planned : Math.min(planned, nowMs + LAST_SECONDS_MS);
}

/**
 * Deadline for a shorter actual grace period: the app keeps its own time, and the drain is cut. The drain delay is kept up to half
 * of the grace period: an app that stops before proxies have applied the withdrawal drops requests.
 */
export function shortenedDeadlineMs(settings: DrainSettings, drain: Drain, graceSeconds: number): number {
  const { triggeredAtMs, deadlineMs } = drain;
  const affordableMs = triggeredAtMs + graceSeconds * 1_000 - settings.appGraceMs - SHORTENED_MARGIN_MS;
  const delayMs = Math.min(settings.drainDelayMs, (graceSeconds * 1_000) / 2);
  return Math.min(deadlineMs, Math.max(affordableMs, triggeredAtMs + Math.max(delayMs, SHORTEST_DRAIN_MS)));
}

/** A held mesh proxy, or the manager's own preStop hook in classic mode, outlasts the app, but not its grace period. */
export function holdingBoundMs(settings: DrainSettings, fromMs: number): number {
  return fromMs + settings.appGraceMs;
}

/** Applies a status from the relay. It can confirm the Pod's end, but not deny it: another replica may lag. */
export function applyReport(relay: RelayStatus, reported: RelayReported): RelayStatus {
  const { offered, reason, nowMs } = reported;
  const terminating = relay.terminating || reported.terminating;
  const askedAtMs = relay.askedAtMs < 0 ? nowMs : relay.askedAtMs;
  const answerMs = relay.answerMs < 0 && reported.answered ? nowMs - askedAtMs : relay.answerMs;
  const next: RelayStatus = { ...relay, offered, terminating, reason, askedAtMs, answerMs };
  if (offered === "in") return { ...next, withdrawnAtMs: -1, outFromMs: -1 };
  if (offered === "unknown") return relay.offered === "in" ? { ...next, silentFromMs: nowMs } : next;
  if (relay.withdrawnAtMs >= 0) return next;
  // The Pod was withdrawn at some time during a silence, which must not lengthen the drain.
  const outFromMs = relay.offered === "in" ? nowMs : relay.silentFromMs;
  return { ...next, withdrawnAtMs: nowMs, outFromMs };
}

/** Planned end of the withdrawing phase, including the deregistration delay. */
export function withdrawalEndMs(settings: DrainSettings, relay: RelayStatus, drain: Drain): number {
  const withdrawnMs = withdrawnByMs(settings, relay, drain.triggeredAtMs);
  // Terminating and still offered: only the relay or the deadline ends the phase.
  if (withdrawnMs < 0) return drain.deadlineMs;
  return withdrawnMs + settings.deregistrationDelayMs;
}

export function withdrawnByMs(settings: DrainSettings, relay: RelayStatus, triggeredAtMs: number): number {
  // Silence after the withdrawal does not undo it.
  if (relay.offered !== "in") return Math.max(delayEndMs(settings, triggeredAtMs), relay.outFromMs);
  if (relay.terminating) return -1;
  return triggeredAtMs + Math.max(settings.drainDelayMs, SLICES_LAG_MS);
}
