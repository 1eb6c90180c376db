/** When the machine wants to be woken: never while idle, seldom in a drain, often only where the end is near. */
import { criterionOf, isCounted, watchesSockets } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { NOT_ANSWERED } from "../ports.ts";
import {
  COUNT_MS,
  earlyCountMs,
  holdingEndMs,
  isProxyAwaited,
  proxyAwaitedUntilMs,
  quietDueMs,
  seesBetweenCounts,
} from "./criterion.ts";
import { floorEndMs } from "./deadline.ts";
import type { DrainState } from "./drain-state.ts";
import { completionDueMs, restartDueMs } from "./trigger-rules.ts";
import { withdrawalEndMs } from "./withdrawal.ts";

/** -1 for never. A tick at or after `lookAtMs` carries a look. */
type Wake = { readonly wakeAtMs: number; readonly lookAtMs: number };

/** New connections are dated by the look that finds them, so this is also the over-wait they can cause. */
const LOOK_MS = 150;
/** A drain that has lasted long ends with a connection whose last byte the kernel dates exactly. */
const PATIENT_AFTER_MS = 60_000;
const PATIENT_LOOK_MS = 1_000;
/**
 * Looks at thousands take 1 % of a core, so that it stays with the app. By number and not by the clock: a busy node makes
 * a look long, and must not make a drain long.
 */
const BUSY_MS_PER_SOCKET = 0.5;
/** 5 % where all is calm: a connection that comes and goes without a trace is dated by the look that misses it. */
const CALM_MS_PER_SOCKET = 0.1;
/**
 * A socket of a crowd costs up to 6 µs, since nothing of it is in a cache any more. A drain that is over at its second look
 * has paid for two looks in the time of one pace: 5 % of a core then, and half of it in a drain that goes on.
 */
const CROWD_MS_PER_SOCKET = 0.25;
const HOLDING_LOOK_MS = 250;

export function nextWake(settings: DrainSettings, state: DrainState, nowMs: number): Wake {
  switch (state.phase) {
    case "idle":
      return state.stopAsked ? at(nowMs, nowMs) : at(restartDueMs(state), -1);
    case "withdrawing":
      return duringWithdrawal(settings, state, nowMs);
    case "draining":
      return duringDraining(settings, state, nowMs);
    case "holding":
      return duringHolding(settings, state, nowMs);
    case "done":
      return at(state.rearmAtMs, state.rearmAtMs);
    default:
      return at(-1, -1);
  }
}

function duringWithdrawal(settings: DrainSettings, state: DrainState, nowMs: number): Wake {
  // The runtimes' timers may fire a fraction of a millisecond early: the look still belongs to the end itself.
  const plannedMs = withdrawalEndMs(settings, state);
  const endMs = plannedMs > nowMs ? plannedMs : nowMs + 1;
  const timerMs = earliest(earliest(state.deadlineMs, endMs), completionDueMs(settings, state));
  const atEndOrBefore = (lookMs: number): number => (isExact(settings, state) ? Math.min(endMs, lookMs) : lookMs);
  // The first look says whether there is anything to drain; the next ones only serve the end of the delays.
  if (state.lookedAtMs < state.triggeredAtMs) return at(timerMs, nowMs);
  const awaitedMs = awaitedLookMs(settings, state, nowMs);
  if (awaitedMs >= 0) return at(timerMs, awaitedMs);
  if (seesBetweenCounts(settings)) {
    const countMs = Math.max(earlyCountMs(settings, state.triggeredAtMs), state.countedAtMs + COUNT_MS, nowMs + 1);
    if (state.counting) return at(timerMs, state.deadlineMs);
    const counted = withCount(state, Math.min(countMs, endMs));
    return at(earliest(timerMs, counted.wakeAtMs), atEndOrBefore(counted.lookAtMs));
  }
  if (!watchesSockets(criterionOf(settings))) return at(timerMs, state.deadlineMs);
  const floorMs = floorEndMs(settings, state.triggeredAtMs) + settings.deregistrationDelayMs;
  const denseFromMs = floorMs - settings.quietPeriodMs - LOOK_MS;
  const pacedMs = Math.max(denseFromMs, state.lookedAtMs + paceMs(settings, state, LOOK_MS));
  return at(timerMs, atEndOrBefore(pacedMs));
}

function duringDraining(settings: DrainSettings, state: DrainState, nowMs: number): Wake {
  const wake = duringTraffic(settings, state, nowMs);
  const awaitedMs = awaitedLookMs(settings, state, nowMs);
  return awaitedMs < 0 ? wake : at(wake.wakeAtMs, Math.min(wake.lookAtMs, awaitedMs));
}

/** Where nothing can be reached and a proxy may come back; -1 elsewhere. An answer that tells is followed by a look. */
function awaitedLookMs(settings: DrainSettings, state: DrainState, nowMs: number): number {
  if (!isProxyAwaited(settings, state)) return -1;
  const told = state.countedAtMs >= state.lookedAtMs && state.active !== NOT_ANSWERED;
  const regularMs = Math.max(told ? nowMs : state.lookedAtMs + COUNT_MS, state.lookedAtMs + dearestMs(state));
  return Math.min(Math.max(nowMs + 1, regularMs), proxyAwaitedUntilMs(settings, state));
}

function duringTraffic(settings: DrainSettings, state: DrainState, nowMs: number): Wake {
  const criterion = criterionOf(settings);
  if (criterion === "deadline") return at(state.deadlineMs, state.deadlineMs);
  if (isCounted(criterion)) {
    const countMs = state.counting ? -1 : Math.max(nowMs + 1, nextCountMs(settings, state, nowMs));
    return countMs < 0 ? at(state.deadlineMs, state.deadlineMs) : withCount(state, countMs);
  }
  const calm = isCalm(state);
  const patient = !calm && nowMs - state.drainingFromMs > PATIENT_AFTER_MS;
  const leastMs = patient ? PATIENT_LOOK_MS : LOOK_MS;
  const regularMs = Math.max(nowMs + 1, state.lookedAtMs + paceMs(settings, state, leastMs));
  const dueMs = quietDueMs(settings, state);
  const lookMs = calm && dueMs > nowMs && isExact(settings, state) ? Math.min(dueMs, regularMs) : regularMs;
  return at(state.deadlineMs, Math.min(lookMs, state.deadlineMs));
}

/** A count comes with a look, so that the report names who is connected now and not who was; unless looks are dear. */
function withCount(state: DrainState, countMs: number): Wake {
  const lookMs = Math.max(countMs, state.lookedAtMs + dearestMs(state));
  return at(Math.min(countMs, state.deadlineMs), Math.min(lookMs, state.deadlineMs));
}

/** The count that ends the drain comes when the quiet period is over, and not at the beat after that. */
function nextCountMs(settings: DrainSettings, state: DrainState, nowMs: number): number {
  const regularMs = state.countedAtMs + COUNT_MS;
  const dueMs = state.activeZeroSinceMs + settings.quietPeriodMs;
  return state.activeZeroSinceMs >= 0 && dueMs > nowMs ? Math.min(dueMs, regularMs) : regularMs;
}

/** How long after a look the next one is early enough. */
function paceMs(settings: DrainSettings, state: DrainState, leastMs: number): number {
  if (!isExact(settings, state)) return Math.max(leastMs, dearestMs(state));
  const spacedMs = state.lookedAtSockets * (isCalm(state) ? CALM_MS_PER_SOCKET : BUSY_MS_PER_SOCKET);
  // Traffic is dated by the kernel, so a look within the quiet period is early enough.
  return Math.max(leastMs, Math.min(settings.quietPeriodMs, spacedMs));
}

/** Looks closer together than this would cost more than the app can spare. */
function dearestMs(state: DrainState): number {
  return state.lookedAtSockets * CROWD_MS_PER_SOCKET;
}

/** Whether the moments that matter are met by a look of their own. Where looks are dear they wait for the next one. */
function isExact(settings: DrainSettings, state: DrainState): boolean {
  return dearestMs(state) <= settings.quietPeriodMs;
}

function isCalm(state: DrainState): boolean {
  return state.observation.known && state.observation.calm;
}

function duringHolding(settings: DrainSettings, state: DrainState, nowMs: number): Wake {
  const boundMs = Math.max(nowMs + 1, holdingEndMs(settings, state));
  const waitsForSockets = state.holds.some(
    (hold) => hold.stage === "held" && (hold.role === "mesh-proxy" || (hold.role === "drain" && settings.classic)),
  );
  return at(
    boundMs,
    waitsForSockets
      ? Math.min(boundMs, Math.max(nowMs + 1, state.lookedAtMs + paceMs(settings, state, HOLDING_LOOK_MS)))
      : -1,
  );
}

function at(timerMs: number, lookAtMs: number): Wake {
  return { wakeAtMs: earliest(timerMs, lookAtMs), lookAtMs };
}

/** The smaller of two moments where -1 is "never". */
function earliest(oneMs: number, otherMs: number): number {
  if (oneMs < 0) return otherMs;
  return otherMs < 0 ? oneMs : Math.min(oneMs, otherMs);
}
