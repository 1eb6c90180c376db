/**
 * The draining phase: waits until the traffic has ended or until the deadline, or ends as `blind` if the traffic cannot be
 * observed. Pure.
 */
import { criterionOf, isCounted, usesSockets } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { NO_RESPONSE } from "../ports.ts";
import { quietDueMs, unknownWaitMs } from "../traffic/quiet.ts";
import type { DrainAction, Wake } from "./drain-event.ts";
import { whyBlind, whyDrained, whyHandedOver } from "./drain-reason.ts";
import type { Drain, Draining, DrainState } from "./drain-state.ts";
import { isHandOverDue, watchCycling } from "./hand-over.ts";
import { enterHolding, enterHoldingAtDeadline, enterHoldingEmpty } from "./holding.ts";
import {
  areSamplesCheap,
  COUNT_INTERVAL_MS,
  isQuietNow,
  minimumIntervalMs,
  nextCountMs,
  SAMPLE_INTERVAL_MS,
  sampleIntervalMs,
} from "./pace.ts";
import {
  hasNoConnection,
  hasOnlyUdp,
  isBlind,
  isProxyAwaited,
  isUnreachable,
  proxyAwaitedUntilMs,
} from "./sample-facts.ts";

/** After this time samples are rarer: the remaining connections are old, and the kernel records the exact time of their last data. */
const RARE_SAMPLES_AFTER_MS = 60_000;
const RARE_SAMPLE_INTERVAL_MS = 1_000;

export function enterDraining(
  state: DrainState,
  drain: Drain,
  deregistrationFromMs: number,
  drainingFromMs: number,
  actions: DrainAction[],
): DrainState {
  actions.push({ kind: "start-driver-drain" });
  const wasStillListed = state.relay.endpointState === "in";
  const { observation } = state.sample;
  const openAtDraining = observation.known ? observation.openConnections : -1;
  const phase: Draining = {
    name: "draining",
    drain,
    deregistrationFromMs,
    drainingFromMs,
    openAtDraining,
    wasStillListed,
    cycling: { connectionCount: 0, sinceMs: drainingFromMs, fewestOutstanding: -1 },
  };
  return { ...state, phase };
}

export function stepDraining(
  settings: DrainSettings,
  state: DrainState,
  previousPhase: Draining,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  const phase = watchCycling(settings, state, previousPhase, nowMs);
  const { drain } = phase;
  if (isUnreachable(settings, state, drain)) return enterHoldingEmpty(state, phase, nowMs);
  if (isDrained(settings, state, phase, nowMs)) {
    return enterHolding(state, phase, "drained", whyDrained(settings, state, nowMs), nowMs);
  }
  if (endsBlind(settings, state, phase, nowMs)) {
    return enterHolding(state, phase, "blind", whyBlind(settings, state, nowMs), nowMs);
  }
  if (nowMs >= drain.deadlineMs) return enterHoldingAtDeadline(settings, state, phase, nowMs);
  if (isHandOverDue(settings, state, phase, nowMs)) {
    return enterHolding(state, phase, "handed-over", whyHandedOver(settings, state, nowMs), nowMs);
  }
  const current: DrainState = { ...state, phase };
  const needsCount = isCounted(criterionOf(settings)) || isProxyAwaited(settings, state, drain);
  if (!needsCount || state.count.isPending || state.count.atMs === nowMs) return current;
  return startCount(current, actions);
}

/** Whether a sample or a count at `nowMs` shows that the traffic has ended. False if the traffic cannot be observed. */
export function isDrained(settings: DrainSettings, state: DrainState, phase: Draining, nowMs: number): boolean {
  const { sample, count } = state;
  const { observation } = sample;
  const criterion = criterionOf(settings);
  if (criterion === "deadline") return false;
  if (isCounted(criterion)) {
    if (count.atMs !== nowMs || count.active !== 0 || count.zeroSinceMs < 0) return false;
    if (nowMs - count.zeroSinceMs < settings.quietPeriodMs) return false;
    // At the start of this phase the driver requests that clients disconnect. They have one quiet period to do so.
    return hasNoConnection(observation) || nowMs - phase.drainingFromMs >= settings.quietPeriodMs;
  }
  if (sample.atMs !== nowMs || !observation.known) return false;
  if (hasOnlyUdp(observation)) return true;
  // While the proxy is down, a quiet Pod does not prove that the traffic has ended.
  if (!isQuietNow(sample) || isProxyAwaited(settings, state, phase.drain)) return false;
  if (criterion === "connections") return observation.openConnections === 0;
  return nowMs >= quietDueMs(settings.quietPeriodMs, observation.lastEvidenceMs, phase.drain.triggeredAtMs);
}

export function endsBlind(settings: DrainSettings, state: DrainState, phase: Draining, nowMs: number): boolean {
  const criterion = criterionOf(settings);
  // The counts of drivers and the criterion `deadline` do not depend on samples.
  if (!usesSockets(criterion)) return false;
  const { sample } = state;
  if (isBlind(sample)) return true;
  // The number of open connections is known even if their activity is unknown.
  if (criterion === "connections" || sample.atMs !== nowMs) return false;
  const { observation } = sample;
  if (!observation.known || observation.activity !== "unknown") return false;
  return nowMs >= Math.max(observation.lastEvidenceMs, phase.drainingFromMs) + unknownWaitMs(settings.quietPeriodMs);
}

export function startCount(state: DrainState, actions: DrainAction[]): DrainState {
  actions.push({ kind: "count-active" });
  return { ...state, count: { ...state.count, isPending: true } };
}

export function wakeDraining(settings: DrainSettings, state: DrainState, phase: Draining, nowMs: number): Wake {
  const wake = wakeForTraffic(settings, state, phase, nowMs);
  const nextProxySampleMs = proxySampleMs(settings, state, phase.drain, nowMs);
  if (nextProxySampleMs < 0) return wake;
  const sampleAtMs = Math.min(wake.sampleAtMs, nextProxySampleMs);
  return { wakeAtMs: Math.min(wake.wakeAtMs, sampleAtMs), sampleAtMs };
}

/**
 * Time of the next sample while the drain waits for a restarting proxy; -1 if the drain does not wait. If the proxy has responded to
 * the driver, the sample is due at once.
 */
export function proxySampleMs(settings: DrainSettings, state: DrainState, drain: Drain, nowMs: number): number {
  if (!isProxyAwaited(settings, state, drain)) return -1;
  const { sample, count } = state;
  const hasResponded = count.atMs >= sample.atMs && count.active !== NO_RESPONSE;
  const regularMs = Math.max(
    hasResponded ? nowMs : sample.atMs + COUNT_INTERVAL_MS,
    sample.atMs + minimumIntervalMs(sample),
  );
  return Math.min(Math.max(nowMs + 1, regularMs), proxyAwaitedUntilMs(settings, state, drain));
}

function wakeForTraffic(settings: DrainSettings, state: DrainState, phase: Draining, nowMs: number): Wake {
  const { deadlineMs } = phase.drain;
  const atDeadline: Wake = { wakeAtMs: deadlineMs, sampleAtMs: deadlineMs };
  const criterion = criterionOf(settings);
  if (criterion === "deadline") return atDeadline;
  if (isCounted(criterion)) {
    if (state.count.isPending) return atDeadline;
    return wakeToCount(state, deadlineMs, Math.max(nowMs + 1, nextCountMs(settings, state.count, nowMs)));
  }
  const { sample } = state;
  const isQuiet = isQuietNow(sample);
  const isRare = !isQuiet && nowMs - phase.drainingFromMs > RARE_SAMPLES_AFTER_MS;
  const minimumMs = isRare ? RARE_SAMPLE_INTERVAL_MS : SAMPLE_INTERVAL_MS;
  const regularMs = Math.max(nowMs + 1, sample.atMs + sampleIntervalMs(settings, sample, minimumMs));
  const evidenceMs = sample.observation.known ? sample.observation.lastEvidenceMs : -1;
  const dueMs = quietDueMs(settings.quietPeriodMs, evidenceMs, phase.drain.triggeredAtMs);
  const sampleMs =
    isQuiet && dueMs > nowMs && areSamplesCheap(settings, sample) ? Math.min(dueMs, regularMs) : regularMs;
  const sampleAtMs = Math.min(sampleMs, deadlineMs);
  return { wakeAtMs: sampleAtMs, sampleAtMs };
}

/** Plans a sample with each count, because the report names the clients at the time of the count. Expensive samples are rarer. */
export function wakeToCount(state: DrainState, deadlineMs: number, countMs: number): Wake {
  const sampleMs = Math.max(countMs, state.sample.atMs + minimumIntervalMs(state.sample));
  const wakeAtMs = Math.min(countMs, deadlineMs);
  const sampleAtMs = Math.min(sampleMs, deadlineMs);
  return { wakeAtMs: Math.min(wakeAtMs, sampleAtMs), sampleAtMs };
}
