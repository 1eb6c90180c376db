/**
 * How the relay is asked: which connection is opened, given up, and when its last word counts no more. A pure function
 * of events that carry their time; the client's process does what it says.
 *
 * One connection speaks, at most one more is being tried. The one that spoke last is believed.
 */
import { RELAY_HEARTBEAT_MS } from "../../contract/relay-wire.ts";
import type { Offered } from "../drain/drain-state.ts";
import {
  answerMs,
  beginHeartbeat,
  doubtAtMs,
  type Heartbeat,
  heartbeatOfNew,
  heartbeatOfNext,
  heartbeatUntil,
  staleAtMs,
  waitsForWord,
} from "./heartbeat.ts";

/** A relay that lives repeats itself; one that has missed three times is gone, whatever its connection says. */
export const SILENCE_LIMIT_MS = 3 * RELAY_HEARTBEAT_MS;

export type RelaySession = {
  /** The connection that spoke last; 0 for none. */
  readonly current: number;
  /** A connection that is tried and has not spoken; 0 for none. */
  readonly candidate: number;
  readonly lastId: number;
  /** The candidate was asked for a heartbeat. */
  readonly candidateBeats: boolean;
  readonly dialledAtMs: number;
  readonly heardAtMs: number;
  readonly offered: Offered;
  /** When to connect again. */
  readonly dialAtMs: number;
  /** In a row. */
  readonly failures: number;
  /** Since when no connection speaks. */
  readonly silentFromMs: number;
  readonly reason: string;
  /** The manager knows that the last word counts no more. */
  readonly lost: boolean;
  readonly over: boolean;
  readonly heartbeat: Heartbeat;
};

export type SessionEvent =
  /** `lateMs`: by how much the timer missed its moment. */
  | { readonly kind: "tick"; readonly nowMs: number; readonly lateMs: number }
  | { readonly kind: "spoke"; readonly nowMs: number; readonly id: number; readonly offered: Offered }
  | { readonly kind: "broke"; readonly nowMs: number; readonly id: number; readonly reason: string }
  | { readonly kind: "floor"; readonly nowMs: number; readonly inMs: number }
  | { readonly kind: "rest"; readonly nowMs: number };

export type SessionAction =
  /** `heartbeat`: ask for a line every so often. */
  | { readonly kind: "dial"; readonly id: number; readonly heartbeat: boolean }
  | { readonly kind: "drop"; readonly id: number }
  | { readonly kind: "lost"; readonly reason: string };

type SessionStep = {
  readonly session: RelaySession;
  readonly actions: readonly SessionAction[];
  /** When the next tick is wanted. */
  readonly wakeAtMs: number;
};

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

export function beginSession(nowMs: number): RelaySession {
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
    heartbeat: beginHeartbeat(),
  };
}

export function stepSession(session: RelaySession, event: SessionEvent): SessionStep {
  const actions: SessionAction[] = [];
  const taken = session.over ? session : take(session, event, actions);
  const next = taken.over ? taken : advance(taken, event.nowMs, actions);
  return { session: next, actions, wakeAtMs: next.over ? -1 : wakeOf(next, event.nowMs) };
}

function take(session: RelaySession, event: SessionEvent, actions: SessionAction[]): RelaySession {
  switch (event.kind) {
    case "tick":
      return event.lateMs > STANDSTILL_MS ? shifted(session, event.lateMs) : session;
    case "floor":
      return { ...session, heartbeat: heartbeatUntil(session.heartbeat, event.nowMs, event.inMs) };
    case "rest":
      return ended(session, actions);
    case "spoke":
      return takeLine(session, event.id, event.offered, event.nowMs, actions);
    case "broke":
      return takeEnd(session, event.id, event.reason, event.nowMs);
    default:
      return session;
  }
}

function takeLine(
  session: RelaySession,
  id: number,
  offered: Offered,
  nowMs: number,
  actions: SessionAction[],
): RelaySession {
  if (id !== session.current && id !== session.candidate) return session;
  const isNew = id === session.candidate;
  if (isNew && session.current !== 0) actions.push({ kind: "drop", id: session.current });
  return {
    ...session,
    current: id,
    candidate: isNew ? 0 : session.candidate,
    heardAtMs: nowMs,
    offered,
    // One line is not yet a conversation: who hangs up after each is not called ten times a second.
    failures: isNew ? session.failures : 0,
    silentFromMs: -1,
    dialAtMs: -1,
    lost: false,
    heartbeat: isNew
      ? heartbeatOfNew(session.heartbeat, session.candidateBeats, nowMs - session.dialledAtMs)
      : heartbeatOfNext(session.heartbeat, nowMs - session.heardAtMs),
  };
}

function takeEnd(session: RelaySession, id: number, reason: string, nowMs: number): RelaySession {
  if (id === session.candidate) return failed(session, reason, nowMs);
  if (id !== session.current) return session;
  const failures = nowMs - session.heardAtMs >= LASTED_MS ? 0 : session.failures;
  const dialAtMs = session.candidate === 0 ? nowMs + retryMs(failures) : -1;
  return { ...session, current: 0, silentFromMs: nowMs, dialAtMs, failures: failures + 1, reason };
}

function retryMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
}

function failed(session: RelaySession, reason: string, nowMs: number): RelaySession {
  const dialAtMs = nowMs + retryMs(session.failures);
  const silentFromMs = session.current === 0 && session.silentFromMs < 0 ? nowMs : session.silentFromMs;
  return { ...session, candidate: 0, dialledAtMs: -1, failures: session.failures + 1, silentFromMs, reason, dialAtMs };
}

function advance(session: RelaySession, nowMs: number, actions: SessionAction[]): RelaySession {
  let next = session;
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
    const candidateBeats = waitsForWord(next.heartbeat, nowMs);
    actions.push({ kind: "dial", id, heartbeat: candidateBeats });
    next = { ...next, lastId: id, candidate: id, candidateBeats, dialledAtMs: nowMs, dialAtMs: -1 };
  }
  const lostMs = lostAtMs(next);
  if (next.lost || lostMs < 0 || nowMs < lostMs) return next;
  const reason = next.current !== 0 ? "it fell silent" : next.reason;
  actions.push({ kind: "lost", reason });
  return { ...next, lost: true, offered: "unknown" };
}

/** When another connection is tried; -1 for never. A word that a drain waits for is checked before it is stale. */
function dialDueMs(session: RelaySession): number {
  if (session.dialAtMs >= 0) return session.dialAtMs;
  return session.current === 0 || !isReliedOn(session) ? -1 : doubtAtMs(session.heartbeat, session.heardAtMs);
}

/** When the last word counts no more; -1 while that is open. */
function lostAtMs(session: RelaySession): number {
  if (session.current === 0) {
    if (session.silentFromMs < 0) return -1;
    // What was never said is not waited for.
    if (session.heardAtMs < 0 || session.failures >= FAILURES_BELIEVED) return session.silentFromMs;
    return session.silentFromMs + Math.max(LOST_AFTER_MS, 2 * FIRST_RETRY_MS + answerMs(session.heartbeat));
  }
  return isReliedOn(session) ? staleAtMs(session.heartbeat, session.heardAtMs) : -1;
}

function wakeOf(session: RelaySession, nowMs: number): number {
  const moments = [
    session.candidate === 0 ? dialDueMs(session) : session.dialledAtMs + DIAL_LIMIT_MS,
    session.current === 0 ? -1 : session.heardAtMs + SILENCE_LIMIT_MS,
    session.lost ? -1 : lostAtMs(session),
  ];
  let wakeAtMs = -1;
  for (const atMs of moments) if (atMs >= 0 && (wakeAtMs < 0 || atMs < wakeAtMs)) wakeAtMs = atMs;
  return wakeAtMs < 0 ? -1 : Math.max(wakeAtMs, nowMs);
}

function ended(session: RelaySession, actions: SessionAction[]): RelaySession {
  if (session.current !== 0) actions.push({ kind: "drop", id: session.current });
  if (session.candidate !== 0) actions.push({ kind: "drop", id: session.candidate });
  return { ...session, over: true };
}

function shifted(session: RelaySession, byMs: number): RelaySession {
  return {
    ...session,
    dialledAtMs: session.dialledAtMs < 0 ? -1 : session.dialledAtMs + byMs,
    heardAtMs: session.heardAtMs < 0 ? -1 : session.heardAtMs + byMs,
    silentFromMs: session.silentFromMs < 0 ? -1 : session.silentFromMs + byMs,
  };
}

/** The drain goes on beyond its delay for nothing but this word. */
function isReliedOn(session: RelaySession): boolean {
  return session.heartbeat.waitsFromMs >= 0 && session.offered === "in";
}
