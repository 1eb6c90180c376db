/** Why a drain took as long as it took, in a sentence for people. Pure. */
import type { OpenConnection } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { formatDuration } from "../../contract/duration.ts";
import { criterionOf, onlyDatagrams } from "./criterion.ts";
import { plannedDeadlineMs } from "./deadline.ts";
import type { DrainState } from "./drain-state.ts";

export const DRAIN_RUNS = "The drain is running.";
export const NOTHING_LISTENS = "Nothing in the Pod listens on an outside address, so there was nothing to drain.";
export const APPS_FINISHED =
  "No app container called its hook: they had finished, and only the manager was being stopped.";
export const ONE_CONTAINER =
  "Only one container was stopped and nothing said that the Pod ends: taken for a restart, released without a drain.";
export const FORCED = "The manager was told to stop while the drain was running: the grace period was over.";
export const NOTHING_OPEN = "The manager was told to stop while nothing was open.";

/** The clients that stay are named, but a sentence stays a sentence. */
const NAMED = 3;

export function whyDrained(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const took = `Released ${span(nowMs - state.triggeredAtMs)} after the trigger`;
  const rotation = state.stillInRotation ? " The Pod was still in rotation: its kubelet stopped it by itself." : "";
  return `${took}: ${reason(settings, state)}.${rotation}`;
}

/** The deadline came first. Names who stayed, and what would send such clients away. */
export function whyTimeout(settings: DrainSettings, state: DrainState, nowMs: number): string {
  const planned = plannedDeadlineMs(settings, state.triggeredAtMs);
  const cut =
    state.deadlineMs < planned
      ? `the deadline, shortened from ${span(planned - state.triggeredAtMs)},`
      : "the deadline";
  const start = `Released ${span(nowMs - state.triggeredAtMs)} after the trigger: ${cut} came`;
  const seen = state.observation;
  if (criterionOf(settings) === "requests") {
    if (state.active < 0) return `${start} and the driver could not tell how many requests were active.`;
    return `${start} with ${count(state.active, "active request")}.`;
  }
  if (!seen.known) return `${start} and the traffic could not be observed: ${seen.why}.`;
  if (seen.leftTotal === 0) return `${start} before the traffic had been quiet for ${span(settings.quietPeriodMs)}.`;
  const names = seen.left.slice(0, NAMED).map(inWords).join(", ");
  const more = seen.leftTotal > NAMED ? ` and ${seen.leftTotal - NAMED} more` : "";
  const advice =
    settings.driver === "none"
      ? " A client that keeps sending on a kept connection leaves only when something that speaks HTTP tells it to: a proxy driver, or the http driver and an app that answers Connection: close while draining."
      : "";
  return `${start} with ${count(seen.leftTotal, "connection")} still open: ${names}${more}.${advice}`;
}

function reason(settings: DrainSettings, state: DrainState): string {
  const seen = state.observation;
  if (onlyDatagrams(seen)) return "the Pod only takes datagrams, which have no quiet, so it got its delays";
  const criterion = criterionOf(settings);
  if (criterion === "connections") return "no connection was open";
  if (criterion === "requests") return `no request was active for ${span(settings.quietPeriodMs)}`;
  if (criterion === "deadline") return "the deadline came and nothing was open";
  const evidenceMs = seen.known ? seen.lastEvidenceMs : -1;
  if (evidenceMs < state.triggeredAtMs) return `no traffic came since the trigger`;
  return `the last traffic came ${span(evidenceMs - state.triggeredAtMs)} after the trigger, then it was quiet for ${span(settings.quietPeriodMs)}`;
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
