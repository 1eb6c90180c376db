/** Derives facts from the last sample: reachable, empty, or blind. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { NOT_ANSWERED } from "../ports.ts";
import type { Observation } from "../traffic/observation.ts";
import type { Drain, DrainState, LastCount, LastSample } from "./drain-state.ts";
import { countsBeforeDraining } from "./pace.ts";

/**
 * 1.5 s of failed samples at the usual interval. The default delays contain 15 samples, so a Pod that was never observable loses no
 * time beyond them.
 */
const BLIND_SAMPLES = 10;

export function canBeReached(observation: Observation): boolean {
  return observation.known && (observation.hasTcpListener || observation.hasUdp);
}

/** UDP has no connections that could be quiet, so such a Pod only waits for its delays. */
export function onlyDatagrams(observation: Observation): boolean {
  return observation.known && !observation.hasTcpListener && observation.hasUdp && observation.openConnections === 0;
}

export function hasNoConnection(observation: Observation): boolean {
  return observation.known && observation.openConnections === 0;
}

export function isBlind(sample: LastSample): boolean {
  return sample.blindInARow >= BLIND_SAMPLES;
}

function nothingToDrain(observation: Observation): boolean {
  return hasNoConnection(observation) && !canBeReached(observation);
}

/**
 * Whether nothing was reachable in the last sample and no proxy is awaited. Compares the time of the sample, because an answer of
 * the driver may be later than the proxy's end.
 */
export function isEmptied(settings: DrainSettings, state: DrainState, drain: Drain): boolean {
  const { sample } = state;
  return nothingToDrain(sample.observation) && sample.atMs >= proxyAwaitedUntilMs(settings, state, drain);
}

/** Whether nothing is reachable, but a restarting proxy may change that. */
export function isProxyAwaited(settings: DrainSettings, state: DrainState, drain: Drain): boolean {
  const { sample } = state;
  return nothingToDrain(sample.observation) && sample.atMs < proxyAwaitedUntilMs(settings, state, drain);
}

/** At most the deadline. @returns -1 if no proxy is awaited */
export function proxyAwaitedUntilMs(settings: DrainSettings, state: DrainState, drain: Drain): number {
  const { restartMs } = driverRow(settings.driver);
  if (restartMs === 0) return -1;
  const { sample, count } = state;
  const counted = countsBeforeDraining(settings) && sample.wasReachable && count.knownAtMs >= drain.triggeredAtMs;
  // A proxy that never listened in this drain is awaited once, however often it answers.
  const goneFromMs = counted ? count.knownAtMs : drain.triggeredAtMs;
  if (!counted && isProxyUp(settings, sample, count)) return -1;
  return Math.min(drain.deadlineMs, goneFromMs + restartMs);
}

/** Whether the driver answered and a later sample still shows no listener, so the proxy is running without one. */
function isProxyUp(settings: DrainSettings, sample: LastSample, count: LastCount): boolean {
  if (count.atMs < 0 || count.active === NOT_ANSWERED) return false;
  if (sample.atMs <= count.atMs) return false;
  // An Envoy shows its listeners in the statistics before it listens.
  return count.active < 0 || !driverRow(settings.driver).listensForPod;
}
