/** What ends the draining phase before its deadline. Unknown never does. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { Observation } from "../traffic/observation.ts";
import { floorEndMs } from "./deadline.ts";
import type { DrainState } from "./drain-state.ts";

export type Criterion = "quiet" | "connections" | "requests" | "deadline";

/** `auto` is requests where the driver can count them, else quiet. What a driver counts ends a drain as requests do. */
export function criterionOf(settings: DrainSettings): Criterion {
  if (countsClients(settings)) return "requests";
  if (settings.drainedWhen !== "auto") return settings.drainedWhen;
  if (settings.driver === "none") return "quiet";
  return settings.driver === "http" && settings.activeUrl === "" ? "quiet" : "requests";
}

/** Clients end at Linkerd's proxy, where no drain port shows them: its driver counts them. */
export function countsClients(settings: DrainSettings): boolean {
  return settings.driver === "linkerd" && settings.drainedWhen === "connections";
}

/** The criterion is judged by looks at the sockets, which have to be dense to date the last traffic. */
export function watchesSockets(criterion: Criterion): boolean {
  return criterion === "quiet" || criterion === "connections";
}

export function canBeReached(observation: Observation): boolean {
  return observation.known && (observation.hasTcpListener || observation.hasUdp);
}

/** Nothing in the Pod could be talked to, and nobody is connected. */
function nothingToDrain(observation: Observation): boolean {
  return observation.known && !canBeReached(observation) && observation.openConnections === 0;
}

/** A proxy that was there a moment ago may be starting anew: its ports and clients come back. */
const STARTS_ANEW_MS = 5_000;

/**
 * Nobody could be reached at the last look, and that lasts: at the deadline nobody waits for a proxy any more. By the
 * time of the look, because while an answer of the driver is awaited none is taken, and the proxy may be back.
 */
export function isEmptied(settings: DrainSettings, state: DrainState): boolean {
  if (!nothingToDrain(state.observation)) return false;
  const counted = seesBetweenCounts(settings) && state.knownCountAtMs >= 0;
  if (!counted || state.lookedAtMs >= state.deadlineMs) return true;
  return state.lookedAtMs - state.knownCountAtMs >= STARTS_ANEW_MS;
}

/** Datagrams have no quiet: such a Pod gets its delays and no more. */
export function onlyDatagrams(observation: Observation): boolean {
  return observation.known && !observation.hasTcpListener && observation.hasUdp && observation.openConnections === 0;
}

/** How often a driver is asked. */
export const COUNT_MS = 200;

/** Its counts tell what came and went since the last one, so they mean something before it is told to drain. */
export function seesBetweenCounts(settings: DrainSettings): boolean {
  return (settings.driver === "envoy" || settings.driver === "istio") && criterionOf(settings) === "requests";
}

/** When such counts have to begin to be of use at the earliest end of the delays; the first of them only sets the mark. */
export function earlyCountMs(settings: DrainSettings, triggeredAtMs: number): number {
  const floorMs = floorEndMs(settings, triggeredAtMs) + settings.deregistrationDelayMs;
  return floorMs - settings.quietPeriodMs - 2 * COUNT_MS;
}

function isEmpty(observation: Observation): boolean {
  return observation.known && observation.openConnections === 0;
}

/** Whether the drain is over at `nowMs`, judged by a look or a count of that very moment. */
export function isDrained(settings: DrainSettings, state: DrainState, nowMs: number): boolean {
  const criterion = criterionOf(settings);
  if (criterion === "deadline") return false;
  if (criterion === "requests") {
    if (state.countedAtMs !== nowMs || state.active !== 0 || state.activeZeroSinceMs < 0) return false;
    if (nowMs - state.activeZeroSinceMs < settings.quietPeriodMs) return false;
    // Who is connected has to hear that he should leave, and gets the quiet period to do so.
    return isEmpty(state.observation) || nowMs - state.drainingFromMs >= settings.quietPeriodMs;
  }
  const seen = state.observation;
  if (state.lookedAtMs !== nowMs || !seen.known) return false;
  if (onlyDatagrams(seen)) return true;
  if (!seen.calm) return false;
  if (criterion === "connections") return seen.openConnections === 0;
  return nowMs >= quietDueMs(settings, state);
}

/** When the quiet period is over if no more traffic comes. Nobody watched before the trigger, so it starts there at the earliest. */
export function quietDueMs(settings: DrainSettings, state: DrainState): number {
  const evidenceMs = state.observation.known ? state.observation.lastEvidenceMs : -1;
  return Math.max(evidenceMs, state.triggeredAtMs) + settings.quietPeriodMs;
}
