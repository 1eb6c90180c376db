/** Moves a drain from phase to phase, as far as the moment allows. Pure; the events that led there are noted already. */
import { criterionOf, isCounted } from "../../contract/criterion.ts";
import type { DrainOutcome } from "../../contract/drain-report.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { EXIT_OK } from "../../contract/exit-codes.ts";
import {
  COUNT_MS,
  earlyCountMs,
  holdingEndMs,
  isBlind,
  isDrained,
  isEmptied,
  isProxyAwaited,
  seesBetweenCounts,
} from "./criterion.ts";
import type { DrainAction } from "./drain-event.ts";
import { type DrainState, NOTHING_KNOWN } from "./drain-state.ts";
import {
  APPS_FINISHED,
  NOTHING_OPEN,
  RESTARTED,
  whyBlind,
  whyDrained,
  whyGone,
  whyNothing,
  whyTimeout,
} from "./drain-words.ts";
import { answerAll, releaseHold, releaseRole } from "./holds.ts";
import { advanceDone, REARM_MS, startDrain } from "./start-and-rearm.ts";
import { asksForTheEnd, completionDueMs, holdDueMs, isWaitingHook, joinDueMs } from "./trigger-rules.ts";
import { withdrawalEndMs, withdrawnByMs } from "./withdrawal.ts";

/** A held proxy is released when no other program has had a socket for this long. */
const OTHERS_GONE_MS = 1_000;

export function advance(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  let current = state;
  // Each phase is passed at most once, and `done` may lead back to `idle`.
  for (let passes = 0; passes < 6; passes += 1) {
    const next = advanceOnce(settings, current, nowMs, actions);
    if (next.phase === current.phase) return next;
    actions.push({ kind: "entered", phase: next.phase, at: next });
    current = next;
  }
  return current;
}

function advanceOnce(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  switch (state.phase) {
    case "idle":
      return advanceIdle(settings, state, nowMs, actions);
    case "withdrawing":
      return advanceWithdrawing(settings, state, nowMs, actions);
    case "draining":
      return advanceDraining(settings, state, nowMs, actions);
    case "holding":
      return advanceHolding(settings, state, nowMs, actions);
    case "done":
      return advanceDone(state, nowMs, actions);
    default:
      return state;
  }
}

/** The drain itself is over; who may go is decided by the holding phase. */
export function finish(state: DrainState, outcome: DrainOutcome, why: string, nowMs: number): DrainState {
  // Whom the proxy outlives is only watched from here on: until now every app was meant to live.
  const seenAtEnd = state.observation;
  return { ...state, phase: "holding", outcome, why, seenAtEnd, holdingFromMs: nowMs, othersGoneSinceMs: -1 };
}

function advanceIdle(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  if (state.stopAsked && state.lookedAtMs === nowMs) {
    if (state.observation.known && state.observation.openConnections === 0) {
      actions.push({ kind: "exit", code: EXIT_OK });
      return { ...state, phase: "done", outcome: "not-needed", why: NOTHING_OPEN, doneAtMs: nowMs };
    }
    return startDrain(settings, state, "sigterm", nowMs);
  }
  let next = state;
  for (const hold of state.holds) {
    if (isWaitingHook(hold) && nowMs >= holdDueMs(state, hold)) next = releaseHold(next, hold, actions);
  }
  for (const join of state.joins) {
    if (nowMs < joinDueMs(state, join)) continue;
    const joins = next.joins.filter((other) => other.container !== join.container);
    next = { ...next, outcome: "restarted", why: RESTARTED, joins };
    // A restart changes no phase, and is worth telling all the same.
    actions.push({ kind: "entered", phase: "idle", at: next });
  }
  // What the relay said of one story says nothing of the next one.
  return asksForTheEnd(next) ? next : { ...next, relay: NOTHING_KNOWN, withdrawnAtMs: -1, outFromMs: -1 };
}

function advanceWithdrawing(
  settings: DrainSettings,
  state: DrainState,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  const completedMs = completionDueMs(settings, state);
  if (completedMs >= 0 && nowMs >= completedMs) {
    // Proxies too: no app is left that they could serve.
    return answerAll(finish(state, "not-needed", APPS_FINISHED, nowMs), actions);
  }
  if (isEmptied(settings, state)) return finishEmpty(state, nowMs);
  const withdrawnMs = withdrawnByMs(settings, state);
  // What a lost relay has held up already was part of the withdrawal; the plan is made without it.
  const knownMs = Math.max(withdrawnMs, state.withheldUntilMs);
  const deregistrationFromMs = withdrawnMs >= 0 && nowMs >= withdrawnMs ? knownMs : -1;
  const counted: DrainState = { ...state, deregistrationFromMs };
  const endMs = withdrawalEndMs(settings, state);
  // Where both come at once, or a tick was late, the traffic still has its say.
  const cut = withdrawnMs < 0 || endMs > state.deadlineMs;
  if (cut && nowMs >= state.deadlineMs) return finishAtDeadline(settings, counted, nowMs);
  if (nowMs < endMs) return countsEarly(settings, state, nowMs) ? asking(counted, actions) : counted;
  actions.push({ kind: "tell-driver" });
  const stillInRotation = state.relay.offered === "in";
  const openAtDraining = state.observation.known ? state.observation.openConnections : -1;
  // The planned end, so that a late tick lengthens no phase.
  const drainingFromMs = Math.max(endMs, state.withheldUntilMs);
  return { ...counted, phase: "draining", drainingFromMs, openAtDraining, stillInRotation };
}

function advanceDraining(
  settings: DrainSettings,
  state: DrainState,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  if (isEmptied(settings, state)) return finishEmpty(state, nowMs);
  if (isDrained(settings, state, nowMs)) {
    return finish(state, "drained", whyDrained(settings, state, nowMs), nowMs);
  }
  if (isBlind(settings, state, nowMs)) return finish(state, "blind", whyBlind(settings, state, nowMs), nowMs);
  if (nowMs >= state.deadlineMs) return finishAtDeadline(settings, state, nowMs);
  const asks = isCounted(criterionOf(settings)) || isProxyAwaited(settings, state);
  if (!asks || state.counting || state.countedAtMs === nowMs) return state;
  return asking(state, actions);
}

function asking(state: DrainState, actions: DrainAction[]): DrainState {
  actions.push({ kind: "count-active" });
  return { ...state, counting: true };
}

/** A proxy without a client is quiet at the end of the delays only if it was so for a quiet period before. */
function countsEarly(settings: DrainSettings, state: DrainState, nowMs: number): boolean {
  if (state.counting) return false;
  const isNext = state.countedAtMs < state.triggeredAtMs || nowMs >= state.countedAtMs + COUNT_MS;
  if (isProxyAwaited(settings, state)) return isNext;
  return seesBetweenCounts(settings) && isNext && nowMs >= earlyCountMs(settings, state.triggeredAtMs);
}

/** Nothing can be reached: either nothing ever could, or the app has gone by itself and its work with it. */
function finishEmpty(state: DrainState, nowMs: number): DrainState {
  if (!state.listened) return finish(state, "not-needed", whyNothing(state, nowMs), nowMs);
  return finish(state, "drained", whyGone(state, nowMs), nowMs);
}

/** Reaching the deadline is the plan of `deadline`, and only there an empty Pod makes it a success. */
function finishAtDeadline(settings: DrainSettings, state: DrainState, nowMs: number): DrainState {
  if (isProxyAwaited(settings, state)) return finishEmpty(state, nowMs);
  const empty = state.observation.known && state.observation.leftTotal === 0;
  return empty && criterionOf(settings) === "deadline"
    ? finish(state, "drained", whyDrained(settings, state, nowMs), nowMs)
    : finish(state, "timeout", whyTimeout(settings, state, nowMs), nowMs);
}

function advanceHolding(settings: DrainSettings, state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  let next = releaseRole(state, "app", actions);
  const overdue = nowMs >= holdingEndMs(settings, state);
  const alone = state.othersGoneSinceMs >= 0 && nowMs - state.othersGoneSinceMs >= OTHERS_GONE_MS;
  if (overdue || alone) next = releaseRole(next, "mesh-proxy", actions);
  if (overdue) next = answerAll(next, actions);
  if (next.holds.some((hold) => hold.role !== "drain")) return next;
  // A classic manager is a container like the app: its own end must come after the app's ports have closed.
  const portsClosed = state.observation.known && !state.observation.hasTcpListener;
  const waits = settings.classic && !portsClosed && next.holds.length > 0;
  if (waits) return next;
  const answered = answerAll(next, actions);
  if (state.stopAsked) actions.push({ kind: "exit", code: EXIT_OK });
  return { ...answered, phase: "done", doneAtMs: nowMs, rearmAtMs: state.stopAsked ? -1 : nowMs + REARM_MS };
}
