/**
 * How the relay is asked: which connection is opened, given up, and when its last word counts no more. A pure function
 * of events that carry their time; the client's process does what it says.
 *
 * One connection speaks, at most one more is being tried. The one that spoke last is believed.
 */
import type { Offered } from "../drain/drain-state.ts";
import {
  answerMs,
  beginPulse,
  doubtAtMs,
  isReliedOn,
  pulseOfNew,
  pulseOfNext,
  pulseUntil,
  staleAtMs,
  waitsForWord,
} from "./asking-pulse.ts";
import { type Asking, type AskingAction, type AskingEvent, type AskingStep, SILENCE_LIMIT_MS } from "./asking-state.ts";

/** To connect, to agree on TLS and to hear the first line. */
export const DIAL_LIMIT_MS = 2_000;
/** The Service may lead to another replica: how long a word outlives its connection, at least. */
const LOST_AFTER_MS = 500;
const FIRST_RETRY_MS = 100;
/** Who hangs up after every answer so often in a row is no relay to wait for, however fast the next answer comes. */
const FAILURES_BELIEVED = 4;
const LONGEST_RETRY_MS = 2_000;
/** A connection that was open for that long after its last line was no failure. */
const LASTED_MS = 1_000;
/** A timer that comes later than this says that the process stood still, and the relay was not heard meanwhile. */
const STANDSTILL_MS = 50;

export function beginAsking(nowMs: number): Asking {
  return {
    current: 0,
    candidate: 0,
    lastId: 0,
    candidateBeats: false,
    dialledAtMs: -1,
    heardAtMs: -1,
    offered: "unknown",
    dialAtMs: nowMs,
    failures: 0,
    silentFromMs: -1,
    reason: "",
    lost: false,
    over: false,
    pulse: beginPulse(),
  };
}

export function stepAsking(asking: Asking, event: AskingEvent): AskingStep {
  const actions: AskingAction[] = [];
  const taken = asking.over ? asking : take(asking, event, actions);
  const next = taken.over ? taken : advance(taken, event.nowMs, actions);
  return { asking: next, actions, wakeAtMs: next.over ? -1 : wakeOf(next, event.nowMs) };
}

function take(asking: Asking, event: AskingEvent, actions: AskingAction[]): Asking {
  switch (event.kind) {
    case "tick":
      return event.lateMs > STANDSTILL_MS ? shifted(asking, event.lateMs) : asking;
    case "floor":
      return { ...asking, pulse: pulseUntil(asking.pulse, event.nowMs, event.inMs) };
    case "rest":
      return ended(asking, actions);
    case "spoke":
      return takeLine(asking, event.id, event.offered, event.nowMs, actions);
    case "broke":
      return takeEnd(asking, event.id, event.reason, event.nowMs);
    default:
      return asking;
  }
}

function takeLine(asking: Asking, id: number, offered: Offered, nowMs: number, actions: AskingAction[]): Asking {
  if (id !== asking.current && id !== asking.candidate) return asking;
  const isNew = id === asking.candidate;
  if (isNew && asking.current !== 0) actions.push({ kind: "drop", id: asking.current });
  return {
    ...asking,
    current: id,
    candidate: isNew ? 0 : asking.candidate,
    heardAtMs: nowMs,
    offered,
    // One line is not yet a conversation: who hangs up after each is not called ten times a second.
    failures: isNew ? asking.failures : 0,
    silentFromMs: -1,
    dialAtMs: -1,
    lost: false,
    pulse: isNew
      ? pulseOfNew(asking.pulse, asking.candidateBeats, nowMs - asking.dialledAtMs)
      : pulseOfNext(asking.pulse, nowMs - asking.heardAtMs),
  };
}

function takeEnd(asking: Asking, id: number, reason: string, nowMs: number): Asking {
  if (id === asking.candidate) return failed(asking, reason, nowMs);
  if (id !== asking.current) return asking;
  const failures = nowMs - asking.heardAtMs >= LASTED_MS ? 0 : asking.failures;
  const dialAtMs = asking.candidate === 0 ? nowMs + retryMs(failures) : -1;
  return { ...asking, current: 0, silentFromMs: nowMs, dialAtMs, failures: failures + 1, reason };
}

function retryMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
}

function failed(asking: Asking, reason: string, nowMs: number): Asking {
  const dialAtMs = nowMs + retryMs(asking.failures);
  const silentFromMs = asking.current === 0 && asking.silentFromMs < 0 ? nowMs : asking.silentFromMs;
  return { ...asking, candidate: 0, dialledAtMs: -1, failures: asking.failures + 1, silentFromMs, reason, dialAtMs };
}

function advance(asking: Asking, nowMs: number, actions: AskingAction[]): Asking {
  let next = asking;
  if (next.candidate !== 0 && nowMs >= next.dialledAtMs + DIAL_LIMIT_MS) {
    actions.push({ kind: "drop", id: next.candidate });
    next = failed(next, `no answer within ${DIAL_LIMIT_MS} ms`, nowMs);
  }
  if (next.current !== 0 && nowMs >= next.heardAtMs + SILENCE_LIMIT_MS) {
    actions.push({ kind: "drop", id: next.current });
    next = takeEnd(next, next.current, "it fell silent", nowMs);
  }
  if (next.candidate === 0 && nowMs >= dialDueMs(next) && dialDueMs(next) >= 0) {
    const id = next.lastId + 1;
    const candidateBeats = waitsForWord(next, nowMs);
    actions.push({ kind: "dial", id, pulse: candidateBeats });
    next = { ...next, lastId: id, candidate: id, candidateBeats, dialledAtMs: nowMs, dialAtMs: -1 };
  }
  const lostMs = lostAtMs(next);
  if (next.lost || lostMs < 0 || nowMs < lostMs) return next;
  const reason = next.current !== 0 ? "it fell silent" : next.reason;
  actions.push({ kind: "lost", reason });
  return { ...next, lost: true, offered: "unknown" };
}

/** When another connection is tried; -1 for never. A word that a drain waits for is checked before it is stale. */
function dialDueMs(asking: Asking): number {
  if (asking.dialAtMs >= 0) return asking.dialAtMs;
  return asking.current === 0 || !isReliedOn(asking) ? -1 : doubtAtMs(asking);
}

/** When the last word counts no more; -1 while that is open. */
function lostAtMs(asking: Asking): number {
  if (asking.current === 0) {
    if (asking.silentFromMs < 0) return -1;
    // What was never said is not waited for.
    if (asking.heardAtMs < 0 || asking.failures >= FAILURES_BELIEVED) return asking.silentFromMs;
    return asking.silentFromMs + Math.max(LOST_AFTER_MS, 2 * FIRST_RETRY_MS + answerMs(asking.pulse));
  }
  return isReliedOn(asking) ? staleAtMs(asking) : -1;
}

function wakeOf(asking: Asking, nowMs: number): number {
  const moments = [
    asking.candidate === 0 ? dialDueMs(asking) : asking.dialledAtMs + DIAL_LIMIT_MS,
    asking.current === 0 ? -1 : asking.heardAtMs + SILENCE_LIMIT_MS,
    asking.lost ? -1 : lostAtMs(asking),
  ];
  let wakeAtMs = -1;
  for (const atMs of moments) if (atMs >= 0 && (wakeAtMs < 0 || atMs < wakeAtMs)) wakeAtMs = atMs;
  return wakeAtMs < 0 ? -1 : Math.max(wakeAtMs, nowMs);
}

function ended(asking: Asking, actions: AskingAction[]): Asking {
  if (asking.current !== 0) actions.push({ kind: "drop", id: asking.current });
  if (asking.candidate !== 0) actions.push({ kind: "drop", id: asking.candidate });
  return { ...asking, over: true };
}

function shifted(asking: Asking, byMs: number): Asking {
  return {
    ...asking,
    dialledAtMs: asking.dialledAtMs < 0 ? -1 : asking.dialledAtMs + byMs,
    heardAtMs: asking.heardAtMs < 0 ? -1 : asking.heardAtMs + byMs,
    silentFromMs: asking.silentFromMs < 0 ? -1 : asking.silentFromMs + byMs,
  };
}
