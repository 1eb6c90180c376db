/** Computes the times of a drain from the time of its trigger, because ticks can be late. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { RelayReported } from "./drain-event.ts";
import type { Drain, RelayStatus } from "./drain-state.ts";

/** After the grace period the kubelet gives a native sidecar 2 s. The other 200 ms are for the manager's exit. */
const SIGTERM_DRAIN_MS = 1_800;
/** Time between the end of a shortened drain and the start of the app's own grace period. */
const SHORTENED_MARGIN_MS = 2_000;
const SHORTEST_DRAIN_MS = 1_000;
/**
 * Maximum lag of EndpointSlices. If they list the Pod as a ready endpoint for longer, the kubelet is stopping the Pod without a
 * deletion.
 */
const SLICES_LAG_MS = 5_000;

export function delayEndMs(settings: DrainSettings, triggeredAtMs: number): number {
  return triggeredAtMs + settings.drainDelayMs;
}

export function plannedDeadlineMs(settings: DrainSettings, triggeredAtMs: number): number {
  return delayEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs + settings.drainTimeoutMs;
}

/** Deadline of a drain that SIGTERM started. In classic mode it is not shortened; the kubelet may kill the manager earlier. */
export function sigtermDeadlineMs(settings: DrainSettings, nowMs: number): number {
  const plannedMs = plannedDeadlineMs(settings, nowMs);
  return settings.classic ? plannedMs : Math.min(plannedMs, nowMs + SIGTERM_DRAIN_MS);
}

/**
 * Deadline for a deletion with a shorter grace period: the drain is shortened, and the app has its own grace period in full. The
 * drain delay remains, up to half of the grace period, because an app that stops before the withdrawal drops requests.
 */
export function shortenedDeadlineMs(settings: DrainSettings, drain: Drain, graceSeconds: number): number {
  const { triggeredAtMs, deadlineMs } = drain;
  const appStopMs = triggeredAtMs + graceSeconds * 1_000 - settings.appGraceMs - SHORTENED_MARGIN_MS;
  const delayMs = Math.min(settings.drainDelayMs, (graceSeconds * 1_000) / 2);
  return Math.min(deadlineMs, Math.max(appStopMs, triggeredAtMs + Math.max(delayMs, SHORTEST_DRAIN_MS)));
}

/** Latest end of the holding phase: a mesh proxy, and a classic manager, are held at most for the app's own grace period. */
export function holdingLimitMs(settings: DrainSettings, fromMs: number): number {
  return fromMs + settings.appGraceMs;
}

/**
 * Applies a status from the relay. A status that reports that the Pod is terminating cannot be revoked by later statuses, because these
 * may come from a replica that lags behind.
 */
export function applyRelayStatus(relay: RelayStatus, event: RelayReported): RelayStatus {
  const { endpointState, reason, nowMs } = event;
  const terminating = relay.terminating || event.terminating;
  const requestedAtMs = relay.requestedAtMs < 0 ? nowMs : relay.requestedAtMs;
  const responseMs = relay.responseMs < 0 && event.isFromRelay ? nowMs - requestedAtMs : relay.responseMs;
  const isGraceful = event.isFromRelay ? event.isGraceful : relay.isGraceful;
  const next: RelayStatus = { ...relay, endpointState, terminating, reason, isGraceful, requestedAtMs, responseMs };
  if (endpointState === "in") return { ...next, withdrawnAtMs: -1, outFromMs: -1 };
  if (endpointState === "unknown") return relay.endpointState === "in" ? { ...next, silentFromMs: nowMs } : next;
  if (relay.withdrawnAtMs >= 0) return next;
  // If the relay was silent, the Pod may have been withdrawn at the start of the silence. The silence must not lengthen the drain.
  const outFromMs = relay.endpointState === "in" ? nowMs : relay.silentFromMs;
  return { ...next, withdrawnAtMs: nowMs, outFromMs };
}

/** Planned end of the withdrawing phase, including the deregistration delay. */
export function withdrawalEndMs(settings: DrainSettings, relay: RelayStatus, drain: Drain): number {
  const withdrawnMs = withdrawnByMs(settings, relay, drain.triggeredAtMs);
  // If the Pod is terminating and EndpointSlices still list it, only the relay or the deadline ends the phase.
  if (withdrawnMs < 0) return drain.deadlineMs;
  return withdrawnMs + settings.deregistrationDelayMs;
}

/** Time at which the Pod counts as withdrawn; -1 if only the relay can confirm the withdrawal. */
export function withdrawnByMs(settings: DrainSettings, relay: RelayStatus, triggeredAtMs: number): number {
  // `outFromMs` keeps its value if the status becomes `unknown` after the withdrawal, so the withdrawal is not revoked.
  if (relay.endpointState !== "in") return Math.max(delayEndMs(settings, triggeredAtMs), relay.outFromMs);
  if (relay.terminating) return -1;
  return triggeredAtMs + Math.max(settings.drainDelayMs, SLICES_LAG_MS);
}
