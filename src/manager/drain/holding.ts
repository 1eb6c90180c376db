/** The holding phase after the drain: apps are released at once, a mesh proxy and a classic manager after the apps' exit. Pure. */
import { criterionOf } from "../../contract/criterion.ts";
import type { DrainOutcome } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { EXIT_OK } from "../../contract/exit-codes.ts";
import { enterDone } from "./done.ts";
import type { DrainAction, Wake } from "./drain-event.ts";
import { holdingLimitMs } from "./drain-plan.ts";
import { whyDrained, whyGone, whyNotNeeded, whyTimeout } from "./drain-reason.ts";
import type { Draining, DrainResult, DrainState, Holding, Withdrawing } from "./drain-state.ts";
import { answerAll, releaseRole } from "./hook-calls.ts";
import { earliest, sampleIntervalMs } from "./pace.ts";
import { isBlind, isProxyAwaited } from "./sample-facts.ts";

const HOLDING_SAMPLE_INTERVAL_MS = 250;
/** A held mesh proxy is released when other processes have not had sockets for this time. */
const OTHERS_GONE_MS = 1_000;

export function enterHolding(
  state: DrainState,
  phase: Withdrawing | Draining,
  outcome: DrainOutcome,
  why: string,
  nowMs: number,
): DrainState {
  const result = drainResult(state, phase, outcome, why, nowMs);
  return { ...state, phase: { name: "holding", drain: phase.drain, result, othersGoneSinceMs: -1 } };
}

export function drainResult(
  state: DrainState,
  phase: Withdrawing | Draining,
  outcome: DrainOutcome,
  why: string,
  nowMs: number,
): DrainResult {
  const commonFields = { outcome, why, observation: state.sample.observation, holdingFromMs: nowMs };
  const deregistrationFromMs = phase.deregistrationFromMs < 0 ? nowMs : phase.deregistrationFromMs;
  if (phase.name === "withdrawing") {
    const skippedFields = { wasDraining: false, openAtDraining: -1, wasStillListed: false };
    return { ...commonFields, ...skippedFields, deregistrationFromMs, drainingFromMs: nowMs };
  }
  const { drainingFromMs, openAtDraining, wasStillListed } = phase;
  return {
    ...commonFields,
    wasDraining: true,
    openAtDraining,
    wasStillListed,
    deregistrationFromMs,
    drainingFromMs,
  };
}

/** Ends a drain because no port is reachable: the Pod never had a reachable port, or the app has closed its listeners. */
export function enterHoldingEmpty(state: DrainState, phase: Withdrawing | Draining, nowMs: number): DrainState {
  if (!state.sample.wasReachable) {
    return enterHolding(state, phase, "not-needed", whyNotNeeded(state, phase.drain, nowMs), nowMs);
  }
  return enterHolding(state, phase, "drained", whyGone(state, nowMs), nowMs);
}

/** With the criterion `deadline`, the outcome at the deadline is `drained` if no connection is open. */
export function enterHoldingAtDeadline(
  settings: DrainSettings,
  state: DrainState,
  phase: Withdrawing | Draining,
  nowMs: number,
): DrainState {
  if (isProxyAwaited(settings, state, phase.drain)) return enterHoldingEmpty(state, phase, nowMs);
  const { observation } = state.sample;
  const isNothingOpen = observation.known && observation.leftTotal === 0;
  return isNothingOpen && criterionOf(settings) === "deadline"
    ? enterHolding(state, phase, "drained", whyDrained(settings, state, nowMs), nowMs)
    : enterHolding(state, phase, "timeout", whyTimeout(settings, state, nowMs), nowMs);
}

export function stepHolding(
  settings: DrainSettings,
  state: DrainState,
  phase: Holding,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  let hooks = releaseRole(state.hooks, "app", actions);
  const isOverdue = nowMs >= endMs(settings, state, phase);
  const areOthersGone = phase.othersGoneSinceMs >= 0 && nowMs - phase.othersGoneSinceMs >= OTHERS_GONE_MS;
  if (isOverdue || areOthersGone) hooks = releaseRole(hooks, "mesh-proxy", actions);
  if (isOverdue) hooks = answerAll(hooks, actions);
  if (hooks.holds.some((hold) => hold.role !== "drain")) return { ...state, hooks };
  // A classic manager is a regular container, so it may exit only after the app's ports have closed.
  const { observation } = state.sample;
  const arePortsClosed = observation.known && !observation.hasTcpListener;
  const waitsForPorts = settings.classic && !arePortsClosed && hooks.holds.length > 0;
  if (waitsForPorts) return { ...state, hooks };
  const answeredState: DrainState = { ...state, hooks: answerAll(hooks, actions) };
  if (state.isStopRequested) actions.push({ kind: "exit", code: EXIT_OK });
  return enterDone(answeredState, phase.drain, phase.result, nowMs);
}

export function wakeHolding(settings: DrainSettings, state: DrainState, phase: Holding, nowMs: number): Wake {
  const { hooks, sample } = state;
  const limitMs = Math.max(nowMs + 1, endMs(settings, state, phase));
  const waitsForSockets = hooks.holds.some(
    (hold) => hold.stage === "held" && (hold.role === "mesh-proxy" || (hold.role === "drain" && settings.classic)),
  );
  if (!waitsForSockets) return { wakeAtMs: limitMs, sampleAtMs: -1 };
  const pacedMs = Math.max(nowMs + 1, sample.atMs + sampleIntervalMs(settings, sample, HOLDING_SAMPLE_INTERVAL_MS));
  const sampleAtMs = Math.min(limitMs, pacedMs);
  return { wakeAtMs: earliest(limitMs, sampleAtMs), sampleAtMs };
}

/** Latest end of the phase. If samples are blind, the app's grace period counts from the start of the phase instead of the deadline. */
function endMs(settings: DrainSettings, state: DrainState, phase: Holding): number {
  return holdingLimitMs(settings, isBlind(state.sample) ? phase.result.holdingFromMs : phase.drain.deadlineMs);
}
