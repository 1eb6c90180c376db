/** What the last sample shows of the Pod: reachable, empty, or not visible. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { NOT_ANSWERED } from "../ports.ts";
import type { Observation } from "../traffic/observation.ts";
import type { Drain, DrainState, LastCount, LastSample } from "./drain-state.ts";
import { countsBeforeDraining } from "./pace.ts";

/**
 * One failed reading is bad luck, so many in a row are 1.5 s of samples at the usual pace. The default delays hold 15
 * samples: a Pod that was never visible loses no time beyond them.
 */
const BLIND_SAMPLES = 10;

export function canBeReached(observation: Observation): boolean {
  return observation.known && (observation.hasTcpListener || observation.hasUdp);
}

/** Datagrams have no quiet: such a Pod gets its delays and no more. */
export function onlyDatagrams(observation: Observation): boolean {
  return observation.known && !observation.hasTcpListener && observation.hasUdp && observation.openConnections === 0;
}

export function hasNoConnection(observation: Observation): boolean {
  return observation.known && observation.openConnections === 0;
}

/** Waiting longer would be waiting for nothing that can be seen. */
export function isBlind(sample: LastSample): boolean {
  return sample.blindInARow >= BLIND_SAMPLES;
}

/** Nothing in the Pod can be reached, and no client is connected. */
function nothingToDrain(observation: Observation): boolean {
  return hasNoConnection(observation) && !canBeReached(observation);
}

/**
 * Nothing could be reached in the last sample, and that lasts. By the time of the sample: an answer of the driver may
 * come later than the proxy.
 */
export function isEmptied(settings: DrainSettings, state: DrainState, drain: Drain): boolean {
  const { sample } = state;
  return nothingToDrain(sample.observation) && sample.atMs >= proxyAwaitedUntilMs(settings, state, drain);
}

/** Nothing can be reached, and a proxy that restarts may change that: the manager goes on sampling and counting. */
export function isProxyAwaited(settings: DrainSettings, state: DrainState, drain: Drain): boolean {
  const { sample } = state;
  return nothingToDrain(sample.observation) && sample.atMs < proxyAwaitedUntilMs(settings, state, drain);
}

/** No drain waits for a proxy beyond the deadline. @returns -1 if none is to be expected */
export function proxyAwaitedUntilMs(settings: DrainSettings, state: DrainState, drain: Drain): number {
  const { restartMs } = driverRow(settings.driver);
  if (restartMs === 0) return -1;
  const { sample, count } = state;
  const counted = countsBeforeDraining(settings) && sample.wasReachable && count.knownAtMs >= drain.triggeredAtMs;
  // A proxy that never listened in this drain gets its time once, however often it answers.
  const goneFromMs = counted ? count.knownAtMs : drain.triggeredAtMs;
  if (!counted && isProxyUp(settings, sample, count)) return -1;
  return Math.min(drain.deadlineMs, goneFromMs + restartMs);
}

/** It answered, and a sample since then still reaches nothing: what cannot be reached is not the proxy. */
function isProxyUp(settings: DrainSettings, sample: LastSample, count: LastCount): boolean {
  if (count.atMs < 0 || count.active === NOT_ANSWERED) return false;
  if (sample.atMs <= count.atMs) return false;
  // An Envoy shows its listeners in the statistics before it listens.
  return count.active < 0 || !driverRow(settings.driver).listensForPod;
}
