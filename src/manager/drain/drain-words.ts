/** Why a drain took as long as it took, in a sentence for people. Pure. */
import { criterionOf, isCounted } from "../../contract/criterion.ts";
import { FOLLOWED_LIMIT, type OpenConnection } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { formatDuration } from "../../contract/duration.ts";
import { NOT_ANSWERED } from "../ports.ts";
import { unknownWaitMs } from "../traffic/quiet.ts";
import { plannedDeadlineMs } from "./drain-plan.ts";
import { relayText, whyOf, withdrawnAfterMs } from "./drain-report-of.ts";
import { type Drain, type DrainState, drainOf } from "./drain-state.ts";
import { onlyDatagrams } from "./sample-facts.ts";

export const APPS_FINISHED =
  "No app container called its hook: they had finished, and only the manager was being stopped.";
export const RESTARTED =
  "Containers were stopped and nothing said that the Pod ends: taken for a restart, released without a drain.";
export const FORCED = "The manager was told to stop while the drain was running: the grace period was over.";
export const NOTHING_OPEN = "The manager was told to stop while nothing was open.";

/** The clients that stay are named, but a sentence stays a sentence. */
const NAMED = 3;

export function whyDrained(settings: DrainSettings, state: DrainState, nowMs: number): string {
  return `${released(state, nowMs)}: ${reason(settings, state)}.${rotation(state)}`;
}

/** Why the drain takes as long as it does; while it runs, who holds it up and for how long at most. */
export function whyNow(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const { phase } = state;
  const leftMs = (drainOf(phase)?.deadlineMs ?? 0) - nowMs;
  const start = `Still draining, for at most ${span(Math.max(0, leftMs))} more,`;
  if (phase.name === "withdrawing") return `${start} ${whatWithheld(state)}.`;
  return phase.name === "draining" ? `${start} ${whatStays(settings, state)}` : whyOf(phase);
}

/** Nothing in the Pod could be reached at any time of the drain. */
export function whyNothing(state: DrainState, drain: Drain, nowMs: number): string {
  const start = "Nothing in the Pod listens on an outside address, so there was nothing to drain";
  const answered = state.count.atMs < 0 || state.count.active !== NOT_ANSWERED;
  return answered
    ? `${start}.`
    : `${start}; its proxy was waited for and did not come within ${span(nowMs - drain.triggeredAtMs)}.`;
}

/** The app closed its ports during the drain, and no client was connected any more. */
export function whyGone(state: DrainState, nowMs: number): string {
  return `${released(state, nowMs)}: nothing listens any more and no client is connected.${rotation(state)}`;
}

/** The manager could not see what it should have waited for. */
export function whyBlind(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const start = released(state, nowMs);
  const seen = state.sample.observation;
  if (!seen.known) return `${start}: ${seen.why}, so the Pod got its delays and no more.${rotation(state)}`;
  const stays = `with ${whoStays(seen.left, seen.leftTotal)}`;
  const unknown = `no traffic was seen for ${span(unknownWaitMs(settings.quietPeriodMs))}, and whether these are idle cannot be told here`;
  return `${start} ${stays}; ${unknown}.${rotation(state)}`;
}

function released(state: DrainState, nowMs: number): string {
  return `Released ${span(nowMs - (drainOf(state.phase)?.triggeredAtMs ?? nowMs))} after the trigger`;
}

/** What the relay's status changed, or that there was none. */
function rotation(state: DrainState): string {
  const verdict = relayText(state.relay, state.phase);
  if (verdict === "still_in_rotation") return " The Pod was still in rotation: its kubelet stopped it by itself.";
  const afterMs = withdrawnAfterMs(state.relay, state.phase);
  if (verdict === "withdrawn")
    return afterMs > 0
      ? ` The Pod was out of rotation after ${span(afterMs)}.`
      : " The Pod was out of rotation by then.";
  if (state.relay.offered !== "unknown" || state.relay.reason === "") return "";
  if (afterMs >= 0)
    return ` The Pod was out of rotation after ${span(afterMs)}, and nothing more was heard of it (${state.relay.reason}).`;
  return ` Whether the Pod was out of rotation is not known (${state.relay.reason}), so the delay alone counted.`;
}

/** The deadline came first. Names who stayed, and what would send such clients away. */
export function whyTimeout(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const drain = drainOf(state.phase);
  const planned = drain === undefined ? 0 : plannedDeadlineMs(settings, drain.triggeredAtMs);
  const cut =
    drain !== undefined && drain.deadlineMs < planned
      ? `the deadline, shortened from ${span(planned - drain.triggeredAtMs)},`
      : "the deadline";
  const start = `${released(state, nowMs)}: ${cut} came`;
  if (state.phase.name === "withdrawing") return `${start} ${whatWithheld(state)}.`;
  return `${start} ${whatStays(settings, state)}${rotation(state)}`;
}

function whatStays(settings: DrainSettings, state: DrainState): string {
  const seen = state.sample.observation;
  const driver = driverRow(settings.driver);
  const criterion = criterionOf(settings);
  if (criterion === "clients" && state.count.active > 0)
    return `with ${count(state.count.active, "connection")} of clients to the mesh's proxy still open.`;
  if (isCounted(criterion)) {
    if (state.count.active < 0) return "and the driver could not tell how many requests were active.";
    if (state.count.active === 0) return `before ${span(settings.quietPeriodMs)} without an active request.`;
    const requests = count(state.count.active, "active request");
    if (!driver.countsSessions) return `with ${requests}.`;
    return `with ${requests} or ${state.count.active === 1 ? "session" : "sessions"}.`;
  }
  if (!seen.known) return `and the traffic could not be observed: ${seen.why}.`;
  if (seen.leftTotal === 0) return notQuiet(settings, seen.unfollowed);
  const advice = driver.counted === "nothing" ? remedies(settings) : "";
  return `with ${whoStays(seen.left, seen.leftTotal)}.${tooMany(seen.unfollowed)}${advice}`;
}

/** No connection stays, and traffic may still come. */
function notQuiet(settings: DrainSettings, unfollowed: number): string {
  if (criterionOf(settings) === "deadline") return "with no connection open.";
  return `before ${span(settings.quietPeriodMs)} without traffic.${tooMany(unfollowed)}`;
}

/** Settings with which a client on a kept connection does not use up the drain timeout. */
function remedies(settings: DrainSettings): string {
  const preload = settings.preload === "disabled" ? "lastcall.dev/preload: http1 (for HTTP/1.1) or " : "";
  return ` To send clients on kept connections away, set ${preload}the driver http or envoy; to wait less for them, shorten lastcall.dev/drain-timeout.`;
}

/** Whether these were quiet is not known. */
function tooMany(unfollowed: number): string {
  return unfollowed > 0
    ? ` Of more than ${FOLLOWED_LIMIT} connections at once it cannot be told whether they are quiet: the Pod had ${unfollowed} more.`
    : "";
}

/** The drain never came to wait for traffic. */
function whatWithheld(state: DrainState): string {
  const seen = state.sample.observation;
  const offered = state.relay.offered === "in" && state.relay.terminating;
  const what = offered ? `with the Pod still in rotation: ${state.relay.reason}` : "before the end of the delays";
  return seen.known && seen.leftTotal > 0 ? `${what}, with ${whoStays(seen.left, seen.leftTotal)}` : what;
}

function whoStays(left: readonly OpenConnection[], total: number): string {
  const names = left.slice(0, NAMED).map(inWords).join(", ");
  const more = total > NAMED ? ` and ${total - NAMED} more` : "";
  return `${count(total, "connection")} still open: ${names}${more}`;
}

function reason(settings: DrainSettings, state: DrainState): string {
  const seen = state.sample.observation;
  if (onlyDatagrams(seen)) return "the Pod only takes datagrams, which have no quiet, so it got its delays";
  const criterion = criterionOf(settings);
  if (criterion === "connections") return "no connection was open";
  if (criterion === "clients") return `no client was connected to the mesh's proxy for ${span(settings.quietPeriodMs)}`;
  if (criterion === "requests") return `no request was active for ${span(settings.quietPeriodMs)}`;
  if (criterion === "deadline") return "the deadline came and nothing was open";
  const evidenceMs = seen.known ? seen.lastEvidenceMs : -1;
  const triggeredAtMs = drainOf(state.phase)?.triggeredAtMs ?? -1;
  if (evidenceMs < triggeredAtMs) return "no traffic was seen since the trigger";
  return `the last traffic came ${span(evidenceMs - triggeredAtMs)} after the trigger, then it was quiet for at least ${span(settings.quietPeriodMs)}`;
}

function inWords(connection: OpenConnection): string {
  const port = connection.local.slice(connection.local.lastIndexOf(":") + 1);
  const age = connection.ageMs > 0 ? ` for ${span(connection.ageMs)}` : "";
  return `${connection.peer} to port ${port}${age}`;
}

function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

/** To a tenth of a second; shorter spans to the millisecond. */
function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const tenths = Math.round(ms / 100);
  return tenths % 10 === 0 ? formatDuration(tenths * 100) : `${tenths / 10}s`;
}
