/** The Pod serves while it is taken out of its Services, and for the deregistration delay after that. Pure. */
import { criterionOf, usesSockets } from "../../contract/criterion.ts";
import type { DrainTrigger } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { DrainAction, Wake } from "./drain-event.ts";
import { floorEndMs, lastMinuteDeadlineMs, plannedDeadlineMs, withdrawalEndMs, withdrawnByMs } from "./drain-plan.ts";
import { type DrainState, NO_COUNT, NO_SAMPLE, type Withdrawing } from "./drain-state.ts";
import { APPS_FINISHED } from "./drain-words.ts";
import { enterDraining, proxySampleMs, startCount, wakeToCount } from "./draining.ts";
import { enterHolding, enterHoldingAtDeadline, enterHoldingEmpty } from "./holding.ts";
import { answerAll, completionDueMs, holdAgain } from "./hook-calls.ts";
import { COUNT_MS, countsBeforeDraining, earliest, earlyCountMs, isExact, paceMs, SAMPLE_MS } from "./pace.ts";
import { isEmptied, isProxyAwaited } from "./sample-facts.ts";

/** Fixes the deadline and clears the state of an earlier drain, but for the calls that wait. */
export function startDrain(
  settings: DrainSettings,
  state: DrainState,
  trigger: DrainTrigger,
  nowMs: number,
): DrainState {
  const deadlineMs = trigger === "sigterm" ? lastMinuteDeadlineMs(settings, nowMs) : plannedDeadlineMs(settings, nowMs);
  const drain = { trigger, triggeredAtMs: nowMs, deadlineMs };
  return {
    phase: { name: "withdrawing", drain, deregistrationFromMs: -1 },
    hooks: holdAgain(state.hooks),
    relay: { ...state.relay, silentFromMs: -1 },
    sample: NO_SAMPLE,
    count: NO_COUNT,
    stopRequested: state.stopRequested,
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
    // Proxies too: no app is left that they could serve.
    const finished = enterHolding(state, phase, "not-needed", APPS_FINISHED, nowMs);
    return { ...finished, hooks: answerAll(state.hooks, actions) };
  }
  if (isEmptied(settings, state, drain)) return enterHoldingEmpty(state, phase, nowMs);
  const withdrawnMs = withdrawnByMs(settings, relay, drain.triggeredAtMs);
  // What a silent relay has delayed already was part of the withdrawal; the plan is made without it.
  const isWithdrawn = withdrawnMs >= 0 && nowMs >= withdrawnMs;
  const deregistrationFromMs = isWithdrawn ? Math.max(withdrawnMs, relay.silentFromMs) : -1;
  const current: Withdrawing = { ...phase, deregistrationFromMs };
  const endMs = withdrawalEndMs(settings, relay, drain);
  // Where both are due at once, or a tick was late, the traffic still decides.
  const cut = withdrawnMs < 0 || endMs > drain.deadlineMs;
  if (cut && nowMs >= drain.deadlineMs) return enterHoldingAtDeadline(settings, state, current, nowMs);
  // The planned end, so that a late tick lengthens no phase.
  if (nowMs >= endMs) {
    return enterDraining(state, drain, deregistrationFromMs, Math.max(endMs, relay.silentFromMs), actions);
  }
  const waiting: DrainState = { ...state, phase: current };
  return isCountDue(settings, state, phase, nowMs) ? startCount(waiting, actions) : waiting;
}

/** A proxy without a client is quiet at the end of the delays only if it was so for a quiet period before. */
function isCountDue(settings: DrainSettings, state: DrainState, { drain }: Withdrawing, nowMs: number): boolean {
  const { count } = state;
  if (count.pending) return false;
  const isNext = count.atMs < 0 || nowMs >= count.atMs + COUNT_MS;
  if (isProxyAwaited(settings, state, drain)) return isNext;
  return countsBeforeDraining(settings) && isNext && nowMs >= earlyCountMs(settings, drain.triggeredAtMs);
}

export function wakeWithdrawing(
  settings: DrainSettings,
  state: DrainState,
  { drain }: Withdrawing,
  nowMs: number,
): Wake {
  const { sample, count } = state;
  // The runtimes' timers may fire a fraction of a millisecond early: the sample still belongs to the end itself.
  const plannedMs = withdrawalEndMs(settings, state.relay, drain);
  const endMs = plannedMs > nowMs ? plannedMs : nowMs + 1;
  const timerMs = earliest(Math.min(drain.deadlineMs, endMs), completionDueMs(settings, state.hooks, drain));
  const at = (wakeAtMs: number, sampleAtMs: number): Wake => ({ wakeAtMs: earliest(wakeAtMs, sampleAtMs), sampleAtMs });
  const atEndOrBefore = (sampleMs: number): number =>
    isExact(settings, sample) ? Math.min(endMs, sampleMs) : sampleMs;
  // The first sample shows whether there is anything to drain; the next ones only serve the end of the delays.
  if (sample.atMs < 0) return at(timerMs, nowMs);
  const awaitedMs = proxySampleMs(settings, state, drain, nowMs);
  if (awaitedMs >= 0) return at(timerMs, awaitedMs);
  if (countsBeforeDraining(settings)) {
    if (count.pending) return at(timerMs, drain.deadlineMs);
    const countMs = Math.max(earlyCountMs(settings, drain.triggeredAtMs), count.atMs + COUNT_MS, nowMs + 1);
    const counted = wakeToCount(state, drain.deadlineMs, Math.min(countMs, endMs));
    return at(earliest(timerMs, counted.wakeAtMs), atEndOrBefore(counted.sampleAtMs));
  }
  if (!usesSockets(criterionOf(settings))) return at(timerMs, drain.deadlineMs);
  const floorMs = floorEndMs(settings, drain.triggeredAtMs) + settings.deregistrationDelayMs;
  const denseFromMs = floorMs - settings.quietPeriodMs - SAMPLE_MS;
  return at(timerMs, atEndOrBefore(Math.max(denseFromMs, sample.atMs + paceMs(settings, sample, SAMPLE_MS))));
}
