/** The idle phase: hooks without a confirmed Pod deletion count as container restarts. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { EXIT_OK } from "../../contract/exit-codes.ts";
import { enterDone } from "./done.ts";
import type { DrainAction, Wake } from "./drain-event.ts";
import { NOTHING_OPEN, RESTARTED } from "./drain-reason.ts";
import { type DrainResult, type DrainState, NO_STATUS } from "./drain-state.ts";
import {
  endDueMs,
  holdDueMs,
  isTerminationUnconfirmed,
  isWaitingHook,
  releaseHold,
  restartDueMs,
} from "./hook-calls.ts";
import { hasNoConnection } from "./sample-facts.ts";
import { startDrain } from "./withdrawing.ts";

export function stepIdle(
  settings: DrainSettings,
  state: DrainState,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  if (state.isStopRequested && state.sample.atMs === nowMs) return stopIdle(settings, state, nowMs, actions);
  const { relay } = state;
  let next = state;
  for (const hold of state.hooks.holds) {
    if (!isWaitingHook(hold) || nowMs < holdDueMs(relay, hold)) continue;
    next = { ...next, hooks: releaseHold(next.hooks, hold, actions) };
  }
  for (const end of state.hooks.endingContainers) {
    if (nowMs < endDueMs(relay, end)) continue;
    const endingContainers = next.hooks.endingContainers.filter((other) => other.container !== end.container);
    next = {
      ...next,
      phase: { name: "idle", outcome: "restarted", why: RESTARTED },
      hooks: { ...next.hooks, endingContainers },
    };
    actions.push({ kind: "entered", enteredState: next });
  }
  // The relay's status only confirms a termination, so it is discarded if no hook waits for this confirmation.
  return isTerminationUnconfirmed(next.hooks) ? next : { ...next, relay: NO_STATUS };
}

/** Handles SIGTERM without a hook: exits if no connection is open, otherwise drains until `sigtermDeadlineMs`. */
function stopIdle(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  const { observation } = state.sample;
  if (!hasNoConnection(observation)) return startDrain(settings, state, "sigterm", nowMs);
  actions.push({ kind: "exit", code: EXIT_OK });
  const result: DrainResult = {
    outcome: "not-needed",
    why: NOTHING_OPEN,
    observation,
    deregistrationFromMs: nowMs,
    drainingFromMs: nowMs,
    holdingFromMs: nowMs,
    wasDraining: false,
    openAtDraining: -1,
    wasStillListed: false,
  };
  return enterDone(state, undefined, result, nowMs);
}

export function wakeIdle(state: DrainState, nowMs: number): Wake {
  if (state.isStopRequested) return { wakeAtMs: nowMs, sampleAtMs: nowMs };
  return { wakeAtMs: restartDueMs(state.hooks, state.relay), sampleAtMs: -1 };
}
