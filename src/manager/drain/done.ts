/** The phase after the drain: the kubelet stops the Pod, or the Pod stays and the next trigger can start another drain. Pure. */
import type { DrainAction, Wake } from "./drain-event.ts";
import { type Done, type Drain, type DrainResult, type DrainState, idleState } from "./drain-state.ts";
import { isWaitingHook, releaseRole } from "./hook-calls.ts";
import { isReachable } from "./sample-facts.ts";

/** If the Pod's ports are still open after this time, the Pod was not stopped, so the state machine returns to the idle phase. */
const REARM_MS = 60_000;
/** Minimum time between two samples that are caused by hook requests, which any client can send. */
const RESAMPLE_MS = 5_000;

export function enterDone(state: DrainState, drain: Drain | undefined, result: DrainResult, nowMs: number): DrainState {
  const rearmAtMs = state.isStopRequested ? -1 : nowMs + REARM_MS;
  return { ...state, phase: { name: "done", drain, result, doneAtMs: nowMs, rearmAtMs } };
}

export function stepDone(state: DrainState, phase: Done, nowMs: number, actions: DrainAction[]): DrainState {
  if (phase.rearmAtMs < 0 || !canRearm(state, phase, nowMs)) return releaseAll(state, actions);
  const hasWaitingHooks = state.hooks.holds.some(isWaitingHook);
  if (nowMs < phase.rearmAtMs || state.sample.atMs !== nowMs)
    return hasWaitingHooks ? state : releaseAll(state, actions);
  const { observation } = state.sample;
  if (observation.known && !isReachable(observation)) return releaseAll(rearmAt(state, phase, -1), actions);
  if (!observation.known && !hasWaitingHooks) return releaseAll(rearmAt(state, phase, nowMs + REARM_MS), actions);
  // After a failed sample only a hook request suggests that the Pod stays. Any client can send a hook request, so the driver's drain
  // is not reverted.
  if (observation.known && phase.result.wasDraining) actions.push({ kind: "cancel-driver-drain" });
  return rearm(state, phase, nowMs);
}

export function wakeDone(phase: Done): Wake {
  return { wakeAtMs: phase.rearmAtMs, sampleAtMs: phase.rearmAtMs };
}

/** Returns to the idle phase if the manager's own preStop hook runs long after the drain, which proves that the Pod was not stopped. */
export function rearmIfReused(state: DrainState, phase: Done, nowMs: number, actions: DrainAction[]): DrainState {
  if (!canRearm(state, phase, nowMs)) return state;
  const rearmedState = rearm(state, phase, nowMs);
  actions.push({ kind: "entered", enteredState: rearmedState });
  if (phase.result.wasDraining) actions.push({ kind: "cancel-driver-drain" });
  return rearmedState;
}

/** Plans a sample if a container's hook is called long after the drain, because only a sample shows whether the Pod was stopped. */
export function planSample(state: DrainState, phase: Done, nowMs: number): DrainState {
  if (!canRearm(state, phase, nowMs)) return state;
  const sampleMs = Math.max(nowMs, state.sample.atMs + RESAMPLE_MS);
  return rearmAt(state, phase, phase.rearmAtMs < 0 ? sampleMs : Math.min(phase.rearmAtMs, sampleMs));
}

function canRearm(state: DrainState, phase: Done, nowMs: number): boolean {
  return !state.isStopRequested && nowMs - phase.doneAtMs >= REARM_MS;
}

function rearmAt(state: DrainState, phase: Done, rearmAtMs: number): DrainState {
  return { ...state, phase: { ...phase, rearmAtMs } };
}

function rearm(state: DrainState, phase: Done, nowMs: number): DrainState {
  const { holds, chained, running, runningBefore } = state.hooks;
  const { outcome, why } = phase.result;
  const endingContainers = state.hooks.endingContainers.filter((end) => nowMs < end.dueMs);
  return {
    ...idleState(chained),
    phase: { name: "idle", outcome, why },
    hooks: { holds, endingContainers, chained, running, finished: [], runningBefore },
  };
}

function releaseAll(state: DrainState, actions: DrainAction[]): DrainState {
  let hooks = releaseRole(state.hooks, "app", actions);
  hooks = releaseRole(hooks, "mesh-proxy", actions);
  return { ...state, hooks: releaseRole(hooks, "drain", actions) };
}
