/** Derives from the last sample whether the Pod is reachable, has connections, or cannot be observed. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { NO_RESPONSE } from "../ports.ts";
import type { Observation } from "../traffic/observation.ts";
import type { Drain, DrainState, LastCount, LastSample } from "./drain-state.ts";
import { countsBeforeDraining } from "./pace.ts";

/**
 * Number of consecutive failed samples: 1.5 s at the usual interval. The default delays contain 15 samples, so the drain of a Pod
 * that was never observable is not longer than the delays.
 */
const BLIND_SAMPLES = 10;

export function isReachable(observation: Observation): boolean {
  return observation.known && (observation.hasTcpListener || observation.hasUdp);
}

/** Whether the Pod has only UDP ports. UDP does not have connections that could be quiet, so the Pod's drain ends after the delays. */
export function hasOnlyUdp(observation: Observation): boolean {
  return observation.known && !observation.hasTcpListener && observation.hasUdp && observation.openConnections === 0;
}

export function hasNoConnection(observation: Observation): boolean {
  return observation.known && observation.openConnections === 0;
}

export function isBlind(sample: LastSample): boolean {
  return sample.consecutiveBlindSamples >= BLIND_SAMPLES;
}

function hasNothingToDrain(observation: Observation): boolean {
  return hasNoConnection(observation) && !isReachable(observation);
}

/**
 * Whether no port was reachable in the last sample, and the drain does not wait for a proxy. Compares the end of that wait with the
 * time of the sample instead of the current time, because a response to the driver may be later than the proxy's exit.
 */
export function isUnreachable(settings: DrainSettings, state: DrainState, drain: Drain): boolean {
  const { sample } = state;
  return hasNothingToDrain(sample.observation) && sample.atMs >= proxyAwaitedUntilMs(settings, state, drain);
}

/** Whether no port is reachable, and the drain waits for a proxy that may be restarting. */
export function isProxyAwaited(settings: DrainSettings, state: DrainState, drain: Drain): boolean {
  const { sample } = state;
  return hasNothingToDrain(sample.observation) && sample.atMs < proxyAwaitedUntilMs(settings, state, drain);
}

/** Time until which the drain waits for a restarting proxy, at most the deadline. @returns -1 if it does not wait */
export function proxyAwaitedUntilMs(settings: DrainSettings, state: DrainState, drain: Drain): number {
  const { restartWaitMs } = driverRow(settings.driver);
  if (restartWaitMs === 0) return -1;
  const { sample, count } = state;
  const hasCounted = countsBeforeDraining(settings) && sample.wasReachable && count.countedAtMs >= drain.triggeredAtMs;
  // If the proxy never listened in this drain, the wait starts at the trigger, and responses do not extend it.
  const goneFromMs = hasCounted ? count.countedAtMs : drain.triggeredAtMs;
  if (!hasCounted && isProxyUp(settings, sample, count)) return -1;
  return Math.min(drain.deadlineMs, goneFromMs + restartWaitMs);
}

/** Whether the proxy responded to the driver and a later sample shows no listener, so the proxy runs without a listener. */
function isProxyUp(settings: DrainSettings, sample: LastSample, count: LastCount): boolean {
  if (count.atMs < 0 || count.active === NO_RESPONSE) return false;
  if (sample.atMs <= count.atMs) return false;
  // Envoy's statistics contain a listener before Envoy listens.
  return count.active < 0 || !driverRow(settings.driver).listensForPod;
}
