/** Formats the report's sentences that explain the duration of a drain. Pure. */
import { criterionOf, isCounted, patienceMsOf } from "../../contract/criterion.ts";
import { type OpenConnection, TRACKED_LIMIT } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { formatDuration } from "../../contract/duration.ts";
import { NO_RESPONSE } from "../ports.ts";
import { unknownWaitMs } from "../traffic/quiet.ts";
import { plannedDeadlineMs } from "./drain-plan.ts";
import { relayText, whyOf, withdrawnAfterMs } from "./drain-report-of.ts";
import { type Drain, type DrainState, drainOf } from "./drain-state.ts";
import { isProvenGraceful } from "./hand-over.ts";
import { hasOnlyUdp } from "./sample-facts.ts";

export const APPS_FINISHED =
  "No preStop hook of an app container ran, because all app containers had already terminated. Only the manager was stopped.";
export const RESTARTED =
  "Containers were stopped, but the Pod's deletion was not confirmed. The manager treated this as a container restart and did not drain.";
export const FORCED = "The manager received SIGTERM during the drain, because the grace period was over.";
export const NOTHING_OPEN = "The manager received SIGTERM while no connection was open.";

const NAMED_CONNECTIONS_LIMIT = 3;

export function whyDrained(settings: DrainSettings, state: DrainState, nowMs: number): string {
  return `${releasedText(state, nowMs)}: ${drainedReason(settings, state)}.${withdrawalText(state)}`;
}

/** Returns the reason of a finished drain. For a running drain, returns the remaining clients and time. */
export function whyNow(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const { phase } = state;
  const leftMs = (drainOf(phase)?.deadlineMs ?? 0) - nowMs;
  const start = `Still draining, for at most ${durationText(Math.max(0, leftMs))} more,`;
  if (phase.name === "withdrawing") return `${start} ${withdrawingText(state, "because EndpointSlices still list")}.`;
  return phase.name === "draining" ? `${start} ${remainingText(settings, state)}` : whyOf(phase);
}

export function whyNotNeeded(state: DrainState, drain: Drain, nowMs: number): string {
  const start = "Nothing in the Pod listens on a non-loopback address, so there was nothing to drain";
  const hasResponded = state.count.atMs < 0 || state.count.active !== NO_RESPONSE;
  return hasResponded
    ? `${start}.`
    : `${start}; the Pod's proxy did not respond within ${durationText(nowMs - drain.triggeredAtMs)}.`;
}

export function whyGone(state: DrainState, nowMs: number): string {
  return `${releasedText(state, nowMs)}: the app closed its listeners, and no client is connected.${withdrawalText(state)}`;
}

export function whyBlind(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const start = releasedText(state, nowMs);
  const observation = state.sample.observation;
  if (!observation.known)
    return `${start}: ${observation.why}, so the drain only waited for its delays.${withdrawalText(state)}`;
  const openText = `with ${connectionsText(observation.left, observation.leftTotal)}`;
  const unknownText = `no data was observed for ${durationText(unknownWaitMs(settings.quietPeriodMs))}, but /proc/net does not show whether the connections have open requests`;
  return `${start} ${openText}; ${unknownText}.${withdrawalText(state)}`;
}

export function whyHandedOver(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const start = releasedText(state, nowMs);
  const observation = state.sample.observation;
  if (!observation.known) return `${start}.${withdrawalText(state)}`;
  const { connectionCount, outstandingResponses } = observation.cycling;
  const openText = `with ${connectionsText(observation.left, observation.leftTotal)}`;
  const cyclingText = `${countText(connectionCount, "client")} kept sending requests on open connections, ${waitedText(settings, state)}`;
  return `${start} ${openText}; ${cyclingText}. ${countText(outstandingResponses, "response")} ${outstandingResponses === 1 ? "was" : "were"} outstanding.${withdrawalText(state)}`;
}

function waitedText(settings: DrainSettings, state: DrainState): string {
  if (isProvenGraceful(settings, state))
    return "and no connection was reset when the last Pods of this workload stopped (lastcall.dev/shutdown)";
  if (patienceMsOf(settings) === 0)
    return "and the app finishes their requests at its stop signal (lastcall.dev/shutdown, lastcall.dev/patience)";
  return `and none of them closed for ${durationText(settings.patienceMs)} (lastcall.dev/patience)`;
}

function releasedText(state: DrainState, nowMs: number): string {
  return `Released ${durationText(nowMs - (drainOf(state.phase)?.triggeredAtMs ?? nowMs))} after the trigger`;
}

function withdrawalText(state: DrainState): string {
  const status = relayText(state.relay, state.phase);
  if (status === "not_terminating")
    return " EndpointSlices still listed the Pod as ready, because the kubelet stopped the Pod without a deletion.";
  const afterMs = withdrawnAfterMs(state.relay, state.phase);
  if (status === "withdrawn")
    return afterMs > 0
      ? ` The Pod was withdrawn after ${durationText(afterMs)}.`
      : " The Pod was already withdrawn at the trigger.";
  if (state.relay.endpointState !== "unknown" || state.relay.reason === "") return "";
  if (afterMs >= 0)
    return ` The Pod was withdrawn after ${durationText(afterMs)}; later updates were lost (${state.relay.reason}).`;
  return ` Whether the Pod was withdrawn is unknown (${state.relay.reason}), so the drain only waited for its drain delay.`;
}

export function whyTimeout(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const drain = drainOf(state.phase);
  const plannedMs = drain === undefined ? 0 : plannedDeadlineMs(settings, drain.triggeredAtMs);
  const deadlineText =
    drain !== undefined && drain.deadlineMs < plannedMs
      ? `the deadline, shortened from ${durationText(plannedMs - drain.triggeredAtMs)},`
      : "the deadline";
  const start = `${releasedText(state, nowMs)}: ${deadlineText} was reached`;
  if (state.phase.name === "withdrawing")
    return `${start} ${withdrawingText(state, "while EndpointSlices still listed")}.`;
  return `${start} ${remainingText(settings, state)}${withdrawalText(state)}`;
}

function remainingText(settings: DrainSettings, state: DrainState): string {
  const observation = state.sample.observation;
  const driver = driverRow(settings.driver);
  const criterion = criterionOf(settings);
  if (criterion === "clients" && state.count.active > 0)
    return `with ${countText(state.count.active, "connection")} of clients to the proxy still open.`;
  if (isCounted(criterion)) {
    if (state.count.active < 0) return "and the last count of active requests failed.";
    if (state.count.active === 0)
      return `after less than ${durationText(settings.quietPeriodMs)} without an active request.`;
    const requestsText = countText(state.count.active, "active request");
    if (!driver.countsSessions) return `with ${requestsText}.`;
    return `with ${requestsText} or ${state.count.active === 1 ? "session" : "sessions"}.`;
  }
  if (!observation.known) return `and the traffic could not be observed: ${observation.why}.`;
  if (observation.leftTotal === 0) return notQuietText(settings, observation.untracked);
  const remedies = driver.countedUnit === "nothing" ? remediesText(settings) : "";
  return `with ${connectionsText(observation.left, observation.leftTotal)}.${untrackedText(observation.untracked)}${remedies}`;
}

function notQuietText(settings: DrainSettings, untracked: number): string {
  if (criterionOf(settings) === "deadline") return "with no connection open.";
  return `after less than ${durationText(settings.quietPeriodMs)} without traffic.${untrackedText(untracked)}`;
}

/** Suggests settings with which keep-alive connections do not use up the drain timeout. */
function remediesText(settings: DrainSettings): string {
  const preloadText = settings.preload === "disabled" ? "lastcall.dev/preload: http1 (for HTTP/1.1) or " : "";
  return ` To close keep-alive connections earlier, set ${preloadText}lastcall.dev/driver: http or envoy, or shorten lastcall.dev/drain-timeout.`;
}

function untrackedText(untracked: number): string {
  return untracked > 0
    ? ` The manager tracks ${TRACKED_LIMIT} connections at the same time, and the Pod had ${untracked} more, which never count as quiet.`
    : "";
}

function withdrawingText(state: DrainState, listedText: string): string {
  const observation = state.sample.observation;
  const isOffered = state.relay.endpointState === "in" && state.relay.terminating;
  const statusText = isOffered
    ? `${listedText} the Pod as ready: ${state.relay.reason}`
    : "before the end of the delays";
  return observation.known && observation.leftTotal > 0
    ? `${statusText}, with ${connectionsText(observation.left, observation.leftTotal)}`
    : statusText;
}

function connectionsText(left: readonly OpenConnection[], total: number): string {
  const namedConnections = left.slice(0, NAMED_CONNECTIONS_LIMIT).map(connectionText).join(", ");
  const moreText = total > NAMED_CONNECTIONS_LIMIT ? ` and ${total - NAMED_CONNECTIONS_LIMIT} more` : "";
  return `${countText(total, "connection")} still open: ${namedConnections}${moreText}`;
}

function drainedReason(settings: DrainSettings, state: DrainState): string {
  const observation = state.sample.observation;
  if (hasOnlyUdp(observation))
    return "the Pod has only UDP ports, which are never quiet, so the drain only waited for its delays";
  const criterion = criterionOf(settings);
  if (criterion === "connections") return "no connection was open";
  if (criterion === "clients")
    return `no client was connected to the proxy for ${durationText(settings.quietPeriodMs)}`;
  if (criterion === "requests") return `no request was active for ${durationText(settings.quietPeriodMs)}`;
  if (criterion === "deadline") return "the deadline was reached with no connection open";
  const evidenceMs = observation.known ? observation.lastEvidenceMs : -1;
  const triggeredAtMs = drainOf(state.phase)?.triggeredAtMs ?? -1;
  if (evidenceMs < triggeredAtMs) return "no traffic since the trigger";
  return `the last traffic was ${durationText(evidenceMs - triggeredAtMs)} after the trigger, followed by at least ${durationText(settings.quietPeriodMs)} of quiet`;
}

function connectionText(connection: OpenConnection): string {
  const port = connection.local.slice(connection.local.lastIndexOf(":") + 1);
  const age = connection.ageMs > 0 ? ` for ${durationText(connection.ageMs)}` : "";
  return `${connection.peer} to port ${port}${age}`;
}

function countText(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

/** Formats a duration to a tenth of a second; below one second, to the millisecond. */
function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const tenths = Math.round(ms / 100);
  return tenths % 10 === 0 ? formatDuration(tenths * 100) : `${tenths / 10}s`;
}
