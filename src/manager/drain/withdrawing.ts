/** The withdrawing phase: the Pod serves until the withdrawal, and then for the deregistration delay. Pure. */
import { criterionOf, usesSockets } from "../../contract/criterion.ts";
import type { DrainTrigger } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { DrainAction, Wake } from "./drain-event.ts";
import { delayEndMs, plannedDeadlineMs, sigtermDeadlineMs, withdrawalEndMs, withdrawnByMs } from "./drain-plan.ts";
import { APPS_FINISHED } from "./drain-reason.ts";
import { type DrainState, NO_COUNT, NO_SAMPLE, type Withdrawing } from "./drain-state.ts";
import { enterDraining, proxySampleMs, startCount, wakeToCount } from "./draining.ts";
import { enterHolding, enterHoldingAtDeadline, enterHoldingEmpty } from "./holding.ts";
import { answerAll, completionDueMs, resetHolds } from "./hook-calls.ts";
import {
  areSamplesCheap,
  COUNT_INTERVAL_MS,
  countsBeforeDraining,
  earliest,
  earlyCountMs,
  SAMPLE_INTERVAL_MS,
  sampleIntervalMs,
} from "./pace.ts";
import { isProxyAwaited, isUnreachable } from "./sample-facts.ts";

/** Starts a drain: sets the deadline, and resets the state of an earlier drain, except the holds. */
export function startDrain(
  settings: DrainSettings,
  state: DrainState,
  trigger: DrainTrigger,
  nowMs: number,
): DrainState {
  const deadlineMs = trigger === "sigterm" ? sigtermDeadlineMs(settings, nowMs) : plannedDeadlineMs(settings, nowMs);
  const drain = { trigger, triggeredAtMs: nowMs, deadlineMs };
  return {
    phase: { name: "withdrawing", drain, deregistrationFromMs: -1 },
    hooks: resetHolds(state.hooks),
    relay: { ...state.relay, silentFromMs: -1 },
    sample: NO_SAMPLE,
    count: NO_COUNT,
    isStopRequested: state.isStopRequested,
  };
}

export function stepWithdrawing(
  settings: DrainSettings,
  state: DrainState,
  phase: Withdrawing,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  const { relay } = state;
  const { drain } = phase;
  const completedMs = completionDueMs(settings, state.hooks, drain);
  if (completedMs >= 0 && nowMs >= completedMs) {
    // Releases proxies too, because all app containers that used them have finished.
    const finishedState = enterHolding(state, phase, "not-needed", APPS_FINISHED, nowMs);
    return { ...finishedState, hooks: answerAll(state.hooks, actions) };
  }
  if (isUnreachable(settings, state, drain)) return enterHoldingEmpty(state, phase, nowMs);
  const withdrawnMs = withdrawnByMs(settings, relay, drain.triggeredAtMs);
  // The time in which the relay was silent belongs to the withdrawing phase, and does not shorten the deregistration delay.
  const isWithdrawn = withdrawnMs >= 0 && nowMs >= withdrawnMs;
  const deregistrationFromMs = isWithdrawn ? Math.max(withdrawnMs, relay.silentFromMs) : -1;
  const current: Withdrawing = { ...phase, deregistrationFromMs };
  const endMs = withdrawalEndMs(settings, relay, drain);
  // If the phase's end is not later than the deadline, the draining phase follows, even if a late tick is after the deadline.
  const isDeadlineFirst = withdrawnMs < 0 || endMs > drain.deadlineMs;
  if (isDeadlineFirst && nowMs >= drain.deadlineMs) return enterHoldingAtDeadline(settings, state, current, nowMs);
  // The next phase starts at the planned end of this phase, so a late tick does not lengthen this phase.
  if (nowMs >= endMs) {
    return enterDraining(state, drain, deregistrationFromMs, Math.max(endMs, relay.silentFromMs), actions);
  }
  const waitingState: DrainState = { ...state, phase: current };
  return isCountDue(settings, state, phase, nowMs) ? startCount(waitingState, actions) : waitingState;
}

/** Whether an early count is due. With early counts, the drain of an idle proxy can end at the end of the delays. */
function isCountDue(settings: DrainSettings, state: DrainState, { drain }: Withdrawing, nowMs: number): boolean {
  const { count } = state;
  if (count.isPending) return false;
  const isIntervalOver = count.atMs < 0 || nowMs >= count.atMs + COUNT_INTERVAL_MS;
  if (isProxyAwaited(settings, state, drain)) return isIntervalOver;
  return countsBeforeDraining(settings) && isIntervalOver && nowMs >= earlyCountMs(settings, drain.triggeredAtMs);
}

export function wakeWithdrawing(
  settings: DrainSettings,
  state: DrainState,
  { drain }: Withdrawing,
  nowMs: number,
): Wake {
  const { sample, count } = state;
  // Timers may fire a fraction of a millisecond early.
  const plannedMs = withdrawalEndMs(settings, state.relay, drain);
  const endMs = plannedMs > nowMs ? plannedMs : nowMs + 1;
  const timerMs = earliest(Math.min(drain.deadlineMs, endMs), completionDueMs(settings, state.hooks, drain));
  const wakeAt = (wakeAtMs: number, sampleAtMs: number): Wake => ({
    wakeAtMs: earliest(wakeAtMs, sampleAtMs),
    sampleAtMs,
  });
  const atEndOrBefore = (sampleMs: number): number =>
    areSamplesCheap(settings, sample) ? Math.min(endMs, sampleMs) : sampleMs;
  // The first sample shows whether a drain is needed. Later samples are needed only near the end of the delays.
  if (sample.atMs < 0) return wakeAt(timerMs, nowMs);
  const nextProxySampleMs = proxySampleMs(settings, state, drain, nowMs);
  if (nextProxySampleMs >= 0) return wakeAt(timerMs, nextProxySampleMs);
  if (countsBeforeDraining(settings)) {
    if (count.isPending) return wakeAt(timerMs, drain.deadlineMs);
    const countMs = Math.max(earlyCountMs(settings, drain.triggeredAtMs), count.atMs + COUNT_INTERVAL_MS, nowMs + 1);
    const countWake = wakeToCount(state, drain.deadlineMs, Math.min(countMs, endMs));
    return wakeAt(earliest(timerMs, countWake.wakeAtMs), atEndOrBefore(countWake.sampleAtMs));
  }
  if (!usesSockets(criterionOf(settings))) return wakeAt(timerMs, drain.deadlineMs);
  const delaysEndMs = delayEndMs(settings, drain.triggeredAtMs) + settings.deregistrationDelayMs;
  const samplesFromMs = delaysEndMs - settings.quietPeriodMs - SAMPLE_INTERVAL_MS;
  return wakeAt(
    timerMs,
    atEndOrBefore(Math.max(samplesFromMs, sample.atMs + sampleIntervalMs(settings, sample, SAMPLE_INTERVAL_MS))),
  );
}
