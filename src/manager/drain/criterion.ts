/** What ends the draining phase before its deadline. Unknown never does. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { NOT_ANSWERED } from "../ports.ts";
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

/** Nothing in the Pod can be reached, and no client is connected. */
function nothingToDrain(observation: Observation): boolean {
  return observation.known && !canBeReached(observation) && observation.openConnections === 0;
}

/**
 * Nothing could be reached at the last look, and that lasts. By the time of the look: an answer of the driver may come
 * later than the proxy.
 */
export function isEmptied(settings: DrainSettings, state: DrainState): boolean {
  return nothingToDrain(state.observation) && state.lookedAtMs >= proxyAwaitedUntilMs(settings, state);
}

/** Nothing can be reached, and a proxy that restarts may change that: the manager has to go on looking and asking. */
export function isProxyAwaited(settings: DrainSettings, state: DrainState): boolean {
  return nothingToDrain(state.observation) && state.lookedAtMs < proxyAwaitedUntilMs(settings, state);
}

/** A proxy that is gone may be restarting: its ports and clients come back. */
const PROXY_RESTART_MS = 5_000;

/** No drain waits for a proxy beyond the deadline. @returns -1 where none is to be expected */
export function proxyAwaitedUntilMs(settings: DrainSettings, state: DrainState): number {
  if (settings.driver !== "envoy" && settings.driver !== "istio") return -1;
  const counted = seesBetweenCounts(settings) && state.listened && state.knownCountAtMs >= state.triggeredAtMs;
  // One that never listened in this drain gets its time once, however often it answers.
  const goneFromMs = counted ? state.knownCountAtMs : state.triggeredAtMs;
  if (!counted && isProxyUp(settings, state)) return -1;
  return Math.min(state.deadlineMs, goneFromMs + PROXY_RESTART_MS);
}

/** It answered, and a look since then still reaches nothing: what cannot be reached is not the proxy. */
function isProxyUp(settings: DrainSettings, state: DrainState): boolean {
  if (state.countedAtMs < state.triggeredAtMs || state.active === NOT_ANSWERED) return false;
  if (state.lookedAtMs <= state.countedAtMs) return false;
  // An Envoy shows its listeners in the statistics before it listens; Istio's are none of the Pod's own ports.
  return state.active < 0 || settings.driver === "istio";
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
  // The silence of a proxy that is not there tells nothing of its clients.
  if (!seen.calm || isProxyAwaited(settings, state)) return false;
  if (criterion === "connections") return seen.openConnections === 0;
  return nowMs >= quietDueMs(settings, state);
}

/**
 * When the quiet period is over if no more traffic comes. The manager did not watch before the trigger, so the period
 * starts there at the earliest.
 */
export function quietDueMs(settings: DrainSettings, state: DrainState): number {
  const evidenceMs = state.observation.known ? state.observation.lastEvidenceMs : -1;
  return Math.max(evidenceMs, state.triggeredAtMs) + settings.quietPeriodMs;
}
