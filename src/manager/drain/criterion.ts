/** When the draining phase is over before its deadline: drained, or blind. Unknown never counts as drained. Pure. */
import { criterionOf, isCounted, watchesSockets } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { NOT_ANSWERED } from "../ports.ts";
import type { Observation } from "../traffic/observation.ts";
import { floorEndMs, holdingBoundMs } from "./deadline.ts";
import type { DrainState } from "./drain-state.ts";

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

/** No drain waits for a proxy beyond the deadline. @returns -1 where none is to be expected */
export function proxyAwaitedUntilMs(settings: DrainSettings, state: DrainState): number {
  const { restartMs } = driverRow(settings.driver);
  if (restartMs === 0) return -1;
  const counted = seesBetweenCounts(settings) && state.listened && state.knownCountAtMs >= state.triggeredAtMs;
  // One that never listened in this drain gets its time once, however often it answers.
  const goneFromMs = counted ? state.knownCountAtMs : state.triggeredAtMs;
  if (!counted && isProxyUp(settings, state)) return -1;
  return Math.min(state.deadlineMs, goneFromMs + restartMs);
}

/** It answered, and a look since then still reaches nothing: what cannot be reached is not the proxy. */
function isProxyUp(settings: DrainSettings, state: DrainState): boolean {
  if (state.countedAtMs < state.triggeredAtMs || state.active === NOT_ANSWERED) return false;
  if (state.lookedAtMs <= state.countedAtMs) return false;
  // An Envoy shows its listeners in the statistics before it listens.
  return state.active < 0 || !driverRow(settings.driver).listensForPod;
}

/** Datagrams have no quiet: such a Pod gets its delays and no more. */
export function onlyDatagrams(observation: Observation): boolean {
  return observation.known && !observation.hasTcpListener && observation.hasUdp && observation.openConnections === 0;
}

/** How often a driver is asked. */
export const COUNT_MS = 200;

/** Counts are taken before the driver is told to drain. */
export function seesBetweenCounts(settings: DrainSettings): boolean {
  return driverRow(settings.driver).isCumulative && isCounted(criterionOf(settings));
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
  if (isCounted(criterion)) {
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

/**
 * One failed reading is bad luck, so many in a row are 1.5 s of looks at the usual pace. The default delays hold 15
 * looks: a Pod that was never seen loses no time beyond them.
 */
const BLIND_LOOKS = 10;
/** Without ages a request that is being answered looks idle. A real answer mostly takes its turn within this time. */
export const UNTOLD_MS = 10_000;

function seesNothing(state: DrainState): boolean {
  return state.blindLooks >= BLIND_LOOKS;
}

/** Whether the draining phase is over because waiting longer would be waiting for nothing that can be seen. */
export function isBlind(settings: DrainSettings, state: DrainState, nowMs: number): boolean {
  const criterion = criterionOf(settings);
  // A driver has eyes of its own, and the deadline needs none.
  if (!watchesSockets(criterion)) return false;
  if (seesNothing(state)) return true;
  const seen = state.observation;
  // Whether a connection is open can be told without ages.
  if (criterion === "connections" || state.lookedAtMs !== nowMs || !seen.known || !seen.untold) return false;
  return nowMs >= Math.max(seen.lastEvidenceMs, state.drainingFromMs) + untoldMs(settings);
}

/** How long no traffic may show before connections that cannot be judged are handed over. */
export function untoldMs(settings: DrainSettings): number {
  return Math.max(settings.quietPeriodMs, UNTOLD_MS);
}

/** When everything is released. A manager that cannot see the app's end gives it its own grace and no more. */
export function holdingEndMs(settings: DrainSettings, state: DrainState): number {
  return holdingBoundMs(settings, seesNothing(state) ? state.holdingFromMs : state.deadlineMs);
}
