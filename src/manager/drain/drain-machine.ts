/**
 * The drain's state machine: `idle → withdrawing → draining → holding → done`. Pure: events contain their time.
 *
 * The hook of a container is held, but does not start a drain. A drain starts only when the manager's own preStop hook, SIGTERM
 * or the relay confirms that the Pod is terminating. See docs/caller-authorization.md.
 *
 * `apply` records an event, and `advance` passes all phases that are due. A hold is not lost, whatever the order of the events is,
 * and a late tick does not move a deadline.
 */
import type { DrainTrigger } from "../../contract/drain-report.ts";
import type { DrainSettings, HookRole } from "../../contract/drain-settings.ts";
import { EXIT_FORCED, EXIT_OK } from "../../contract/exit-codes.ts";
import { planSample, rearmIfReused, stepDone, wakeDone } from "./done.ts";
import type { DrainAction, DrainEvent, HookCalled, RelayReported, Sample, Step, Wake } from "./drain-event.ts";
import { applyRelayStatus, shortenedDeadlineMs } from "./drain-plan.ts";
import { FORCED } from "./drain-reason.ts";
import type { Done, Drain, DrainResult, DrainState, LastCount, Phase } from "./drain-state.ts";
import { stepDraining, wakeDraining } from "./draining.ts";
import { drainResult, stepHolding, wakeHolding } from "./holding.ts";
import { addHold, addHook, answerAll, dropHold, finishHook, holdOf } from "./hook-calls.ts";
import { stepIdle, wakeIdle } from "./idle.ts";
import { isReachable } from "./sample-facts.ts";
import { startDrain, stepWithdrawing, wakeWithdrawing } from "./withdrawing.ts";

export function step(settings: DrainSettings, state: DrainState, event: DrainEvent): Step {
  const actions: DrainAction[] = [];
  const appliedState = apply(settings, state, event, actions);
  const next = advance(settings, appliedState, event.nowMs, actions);
  const { wakeAtMs, sampleAtMs } = nextWake(settings, next, event.nowMs);
  return { state: next, actions, wakeAtMs, sampleAtMs };
}

function apply(settings: DrainSettings, state: DrainState, event: DrainEvent, actions: DrainAction[]): DrainState {
  const nowMs = event.nowMs;
  switch (event.kind) {
    case "hook-called":
      return applyHook(settings, state, event, actions);
    case "drain-requested": {
      const rearmedState = state.phase.name === "done" ? rearmIfReused(state, state.phase, nowMs, actions) : state;
      const hooks = addHold(rearmedState.hooks, holdOf(event.holdId, nowMs, "", "drain", ""), actions);
      const heldState: DrainState = { ...rearmedState, hooks };
      return heldState.phase.name === "idle"
        ? startConfirmedDrain(settings, heldState, "hook", nowMs, actions)
        : heldState;
    }
    case "client-disconnected":
      return { ...state, hooks: dropHold(state.hooks, event.holdId) };
    case "chained-hook-finished":
      return { ...state, hooks: finishHook(state.hooks, event.container, state.phase.name !== "idle", actions) };
    case "tick":
      return event.sample === undefined ? state : applySample(state, event.sample, nowMs);
    case "active-counted":
      return { ...state, count: countOf(state.count, event.active, event.hadTraffic, nowMs) };
    case "relay-reported":
      return applyRelay(settings, state, event, actions);
    case "sigterm":
      return applyStop(settings, state, actions, nowMs);
    default:
      return state;
  }
}

function advance(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  let current = state;
  // A step passes each of the five phases at most once, and may return from `done` to `idle`.
  for (let passes = 0; passes < 6; passes += 1) {
    const next = advanceOnce(settings, current, nowMs, actions);
    if (next.phase.name === current.phase.name) return next;
    actions.push({ kind: "entered", enteredState: next });
    current = next;
  }
  return current;
}

function advanceOnce(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  const { phase } = state;
  switch (phase.name) {
    case "idle":
      return stepIdle(settings, state, nowMs, actions);
    case "withdrawing":
      return stepWithdrawing(settings, state, phase, nowMs, actions);
    case "draining":
      return stepDraining(settings, state, phase, nowMs, actions);
    case "holding":
      return stepHolding(settings, state, phase, nowMs, actions);
    case "done":
      return stepDone(state, phase, nowMs, actions);
    default:
      return state;
  }
}

/** Computes the next wake-up: none in the idle phase without hooks, rare ones in a drain, frequent ones only near its end. */
export function nextWake(settings: DrainSettings, state: DrainState, nowMs: number): Wake {
  const { phase } = state;
  switch (phase.name) {
    case "idle":
      return wakeIdle(state, nowMs);
    case "withdrawing":
      return wakeWithdrawing(settings, state, phase, nowMs);
    case "draining":
      return wakeDraining(settings, state, phase, nowMs);
    case "holding":
      return wakeHolding(settings, state, phase, nowMs);
    case "done":
      return wakeDone(phase);
    default:
      return { wakeAtMs: -1, sampleAtMs: -1 };
  }
}

/** Everyone who can read the Pod has the token of a hook request, so the request is held, but does not start a drain. */
function applyHook(settings: DrainSettings, state: DrainState, event: HookCalled, actions: DrainAction[]): DrainState {
  const { container, peer, nowMs } = event;
  const role: HookRole = settings.hooks.find((hook) => hook.container === container)?.role ?? "app";
  const hooks = addHook(state.hooks, state.relay, holdOf(event.holdId, nowMs, container, role, peer), actions);
  const heldState: DrainState = { ...state, hooks };
  if (heldState.phase.name === "done") return planSample(heldState, heldState.phase, nowMs);
  if (heldState.phase.name !== "idle") actions.push({ kind: "add-kubelet-address", address: peer });
  return heldState;
}

/** Starts the drain. A client outside of the Pod cannot forge the triggers. */
function startConfirmedDrain(
  settings: DrainSettings,
  state: DrainState,
  trigger: DrainTrigger,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  for (const hold of state.hooks.holds) {
    if (hold.role !== "drain") actions.push({ kind: "add-kubelet-address", address: hold.peer });
  }
  const next = startDrain(settings, state, trigger, nowMs);
  actions.push({ kind: "entered", enteredState: next });
  return next;
}

function countOf(last: LastCount, active: number, hadTraffic: boolean, nowMs: number): LastCount {
  const firstMs = hadTraffic || last.zeroSinceMs < 0 ? nowMs : last.zeroSinceMs;
  const zeroSinceMs = active === 0 ? firstMs : -1;
  const countedAtMs = active < 0 ? last.countedAtMs : nowMs;
  return { active, zeroSinceMs, atMs: nowMs, countedAtMs, isPending: false };
}

function applySample(state: DrainState, sample: Sample, nowMs: number): DrainState {
  const { observation, otherProcesses } = sample;
  const last = state.sample;
  // The app's listener shows whether the user is shared. `hasSharedUser` stays true, because the app closes its listener long before
  // its last outbound request.
  const hasSharedUser = last.hasSharedUser || (otherProcesses.known && otherProcesses.hasSharedUser);
  const next: DrainState = {
    ...state,
    sample: {
      observation,
      atMs: nowMs,
      // The interval between samples depends on the number of sockets. After a failed sample the last number is the best estimate.
      socketCount: sample.socketCount < 0 ? last.socketCount : sample.socketCount,
      consecutiveBlindSamples: !observation.known && observation.blind ? last.consecutiveBlindSamples + 1 : 0,
      wasReachable: last.wasReachable || isReachable(observation),
      hasSharedUser,
    },
  };
  const { phase } = state;
  if (phase.name !== "holding") return next;
  const areOthersGone = otherProcesses.known && !otherProcesses.hasOthers && !hasSharedUser;
  const othersGoneSinceMs = phase.othersGoneSinceMs < 0 ? nowMs : phase.othersGoneSinceMs;
  return { ...next, phase: { ...phase, othersGoneSinceMs: areOthersGone ? othersGoneSinceMs : -1 } };
}

/** The relay can confirm that the Pod is terminating, and shorten the drain. It cannot stop or prevent a drain. */
function applyRelay(
  settings: DrainSettings,
  state: DrainState,
  event: RelayReported,
  actions: DrainAction[],
): DrainState {
  const reportedState: DrainState = { ...state, relay: applyRelayStatus(state.relay, event) };
  const startsDrain = reportedState.phase.name === "idle" && event.terminating;
  const next = startsDrain
    ? startConfirmedDrain(settings, reportedState, "relay", event.nowMs, actions)
    : reportedState;
  return event.graceSeconds < 0
    ? next
    : { ...next, phase: withShorterDeadline(settings, next.phase, event.graceSeconds) };
}

function withShorterDeadline(settings: DrainSettings, phase: Phase, graceSeconds: number): Phase {
  const withDeadline = (drain: Drain): Drain => ({
    ...drain,
    deadlineMs: shortenedDeadlineMs(settings, drain, graceSeconds),
  });
  // One case per phase, because the native compiler cannot read a field that several types of a union share.
  switch (phase.name) {
    case "withdrawing":
      return { ...phase, drain: withDeadline(phase.drain) };
    case "draining":
      return { ...phase, drain: withDeadline(phase.drain) };
    case "holding":
      return { ...phase, drain: withDeadline(phase.drain) };
    default:
      return phase;
  }
}

/**
 * Handles SIGTERM. A native sidecar receives it when the app containers have exited or the grace period is over, so a running drain
 * ends. In classic mode the manager's own hook may have failed, so a running drain continues until the second SIGTERM.
 */
function applyStop(settings: DrainSettings, state: DrainState, actions: DrainAction[], nowMs: number): DrainState {
  const stopRequestedState: DrainState = { ...state, isStopRequested: true };
  if (state.phase.name === "idle") {
    return state.hooks.holds.length === 0
      ? stopRequestedState
      : startConfirmedDrain(settings, stopRequestedState, "sigterm", nowMs, actions);
  }
  if (settings.classic && !state.isStopRequested && state.phase.name !== "done") return stopRequestedState;
  const doneState: DrainState = { ...stopRequestedState, phase: forcedEnd(stopRequestedState, nowMs) };
  const answeredState: DrainState = { ...doneState, hooks: answerAll(state.hooks, actions) };
  if (state.phase.name !== "done") actions.push({ kind: "entered", enteredState: answeredState });
  actions.push({ kind: "exit", code: state.hooks.holds.length > 0 ? EXIT_FORCED : EXIT_OK });
  return answeredState;
}

/** Ends a running drain with the outcome `forced`. In the holding phase the drain is over, so its result does not change. */
function forcedEnd(state: DrainState, nowMs: number): Phase {
  const { phase } = state;
  switch (phase.name) {
    case "withdrawing":
      return doneAt(phase.drain, drainResult(state, phase, "forced", FORCED, nowMs), nowMs);
    case "draining":
      return doneAt(phase.drain, drainResult(state, phase, "forced", FORCED, nowMs), nowMs);
    case "holding":
      return doneAt(phase.drain, phase.result, nowMs);
    case "done":
      return { ...phase, rearmAtMs: -1 };
    default:
      return phase;
  }
}

function doneAt(drain: Drain, result: DrainResult, nowMs: number): Done {
  return { name: "done", drain, result, doneAtMs: nowMs, rearmAtMs: -1 };
}
