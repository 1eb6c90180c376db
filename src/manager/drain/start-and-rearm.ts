/** Starts a drain, and makes the machine ready for the next one where the Pod lives on. Pure. */
import type { DrainTrigger } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { canBeReached } from "./criterion.ts";
import { lastMinuteDeadlineMs, plannedDeadlineMs } from "./deadline.ts";
import type { DrainAction } from "./drain-event.ts";
import { type DrainState, idleState, NOT_LOOKED } from "./drain-state.ts";
import { heldAgain, releaseRole } from "./holds.ts";
import { isWaitingHook } from "./trigger-rules.ts";

/** `done` with ports still open after that was no end: the next trigger finds the machine ready. */
export const REARM_MS = 60_000;
/** Calls from outside make it look at most that often. */
const LOOK_AGAIN_MS = 5_000;

export function mayLiveOn(state: DrainState, nowMs: number): boolean {
  return state.phase === "done" && !state.stopAsked && nowMs - state.doneAtMs >= REARM_MS;
}

/** A hook long after the drain is no proof that the Pod lives on: what is seen decides, and the hook waits for it. */
export function looksAgain(state: DrainState, nowMs: number): DrainState {
  if (!mayLiveOn(state, nowMs)) return state;
  const lookMs = Math.max(nowMs, state.lookedAtMs + LOOK_AGAIN_MS);
  return { ...state, rearmAtMs: state.rearmAtMs < 0 ? lookMs : Math.min(state.rearmAtMs, lookMs) };
}

export function advanceDone(state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  if (state.rearmAtMs < 0 || !mayLiveOn(state, nowMs)) return releaseAll(state, actions);
  const waits = state.holds.some(isWaitingHook);
  if (nowMs < state.rearmAtMs || state.lookedAtMs !== nowMs) return waits ? state : releaseAll(state, actions);
  const seen = state.observation;
  if (seen.known && !canBeReached(seen)) return releaseAll({ ...state, rearmAtMs: -1 }, actions);
  if (!seen.known && !waits) return releaseAll({ ...state, rearmAtMs: nowMs + REARM_MS }, actions);
  // Where nothing can be seen, a call from outside tells no driver anything.
  if (seen.known && state.drainingFromMs >= 0) actions.push({ kind: "tell-staying" });
  return rearmed(state, nowMs);
}

/** Ready for the next trigger. Own hooks that still run go on, and so do their callers; the last report stays readable. */
export function rearmed(state: DrainState, nowMs: number): DrainState {
  const { holds, performing, performingBefore, outcome, why } = state;
  const joins = state.joins.filter((join) => nowMs < join.dueMs);
  return { ...idleState(state.chained), holds, joins, performing, performingBefore, outcome, why };
}

function releaseAll(state: DrainState, actions: DrainAction[]): DrainState {
  let next = releaseRole(state, "app", actions);
  next = releaseRole(next, "mesh-proxy", actions);
  return releaseRole(next, "drain", actions);
}

/**
 * Fixes the deadline and clears the state of an earlier drain, but for the calls that wait. A restart that turns out to be the
 * Pod's end is held like any other hook; its own hook has its turn after the drain, whatever was performed before.
 */
export function startDrain(
  settings: DrainSettings,
  state: DrainState,
  trigger: DrainTrigger,
  nowMs: number,
): DrainState {
  const deadlineMs = trigger === "sigterm" ? lastMinuteDeadlineMs(settings, nowMs) : plannedDeadlineMs(settings, nowMs);
  return {
    ...state,
    phase: "withdrawing",
    outcome: "none",
    trigger,
    holds: state.holds.map(heldAgain),
    performing: [],
    performingBefore: [...state.performingBefore, ...state.performing],
    triggeredAtMs: nowMs,
    deadlineMs,
    withheldUntilMs: -1,
    observation: NOT_LOOKED,
    lookedAtMs: -1,
    lookedAtSockets: 0,
    listened: false,
    why: "",
  };
}
