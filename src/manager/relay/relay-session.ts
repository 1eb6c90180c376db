/**
 * Decides when the relay client dials and drops connections, and when the last status expires. At most one connection is
 * current, and at most one is the candidate to replace it. An id of 0 and a time of -1 mean none. Pure.
 */
import { RELAY_KEEPALIVE_MS } from "../../contract/relay-wire.ts";
import type { EndpointState } from "../drain/drain-state.ts";
import {
  afterFirstLine,
  afterNextLine,
  type Heartbeat,
  newHeartbeat,
  recheckAtMs,
  requestsHeartbeat,
  responseTimeoutMs,
  staleAtMs,
  withDrainDelay,
} from "./heartbeat.ts";

/** If three consecutive keepalive lines are missing, a connection counts as broken, even if TCP does not report an error. */
export const SILENCE_TIMEOUT_MS = 3 * RELAY_KEEPALIVE_MS;

export type RelaySession = {
  readonly currentId: number;
  readonly candidateId: number;
  readonly lastId: number;
  readonly candidateHasHeartbeat: boolean;
  readonly dialledAtMs: number;
  readonly lastReceivedAtMs: number;
  readonly endpointState: EndpointState;
  readonly dialAtMs: number;
  readonly failures: number;
  readonly silentFromMs: number;
  readonly reason: string;
  readonly isLost: boolean;
  readonly isOver: boolean;
  readonly heartbeat: Heartbeat;
};

export type SessionEvent =
  | { readonly kind: "tick"; readonly nowMs: number; readonly lateMs: number }
  | { readonly kind: "received"; readonly nowMs: number; readonly id: number; readonly endpointState: EndpointState }
  | { readonly kind: "closed"; readonly nowMs: number; readonly id: number; readonly reason: string }
  | { readonly kind: "drain-delay"; readonly nowMs: number; readonly inMs: number }
  | { readonly kind: "disconnect"; readonly nowMs: number };

export type SessionAction =
  | { readonly kind: "dial"; readonly id: number; readonly hasHeartbeat: boolean }
  | { readonly kind: "drop"; readonly id: number }
  | { readonly kind: "lost"; readonly reason: string };

type SessionStep = {
  readonly session: RelaySession;
  readonly actions: readonly SessionAction[];
  readonly wakeAtMs: number;
};

/** Limit for the TCP and TLS handshakes and the first line together. */
export const DIAL_TIMEOUT_MS = 2_000;
/** A status is valid for at least this long after its connection closed, because the next connection may reach another replica. */
const LOST_AFTER_MS = 500;
const FIRST_RETRY_MS = 100;
/** After this many consecutive failures, the status expires as soon as the connection closes. */
const TRUSTED_FAILURES_LIMIT = 4;
const LONGEST_RETRY_MS = 2_000;
/** If a connection closes at least this long after its last line, earlier failures do not count any more. */
const STABLE_AFTER_MS = 1_000;
/** If a timer fires later than this, the process was suspended or throttled, and all times are shifted by the timer's delay. */
const SUSPENDED_AFTER_MS = 50;

export function newSession(nowMs: number): RelaySession {
  return {
    currentId: 0,
    candidateId: 0,
    lastId: 0,
    candidateHasHeartbeat: false,
    dialledAtMs: -1,
    lastReceivedAtMs: -1,
    endpointState: "unknown",
    dialAtMs: nowMs,
    failures: 0,
    silentFromMs: -1,
    reason: "",
    isLost: false,
    isOver: false,
    heartbeat: newHeartbeat(),
  };
}

export function stepSession(session: RelaySession, event: SessionEvent): SessionStep {
  const actions: SessionAction[] = [];
  const applied = session.isOver ? session : applyEvent(session, event, actions);
  const next = applied.isOver ? applied : advance(applied, event.nowMs, actions);
  return { session: next, actions, wakeAtMs: next.isOver ? -1 : nextWakeMs(next, event.nowMs) };
}

function applyEvent(session: RelaySession, event: SessionEvent, actions: SessionAction[]): RelaySession {
  switch (event.kind) {
    case "tick":
      return event.lateMs > SUSPENDED_AFTER_MS ? shiftTimes(session, event.lateMs) : session;
    case "drain-delay":
      return { ...session, heartbeat: withDrainDelay(session.heartbeat, event.nowMs, event.inMs) };
    case "disconnect":
      return disconnect(session, actions);
    case "received":
      return applyLine(session, event.id, event.endpointState, event.nowMs, actions);
    case "closed":
      return applyClose(session, event.id, event.reason, event.nowMs);
    default:
      return session;
  }
}

function applyLine(
  session: RelaySession,
  id: number,
  endpointState: EndpointState,
  nowMs: number,
  actions: SessionAction[],
): RelaySession {
  if (id !== session.currentId && id !== session.candidateId) return session;
  const isNew = id === session.candidateId;
  if (isNew && session.currentId !== 0) actions.push({ kind: "drop", id: session.currentId });
  return {
    ...session,
    currentId: id,
    candidateId: isNew ? 0 : session.candidateId,
    lastReceivedAtMs: nowMs,
    endpointState,
    // The first line of a connection does not reset the number of failures. Otherwise a relay that closes each connection after one line
    // would be dialled ten times a second.
    failures: isNew ? session.failures : 0,
    silentFromMs: -1,
    dialAtMs: -1,
    isLost: false,
    heartbeat: isNew
      ? afterFirstLine(session.heartbeat, session.candidateHasHeartbeat, nowMs - session.dialledAtMs)
      : afterNextLine(session.heartbeat, nowMs - session.lastReceivedAtMs),
  };
}

function applyClose(session: RelaySession, id: number, reason: string, nowMs: number): RelaySession {
  if (id === session.candidateId) return afterFailedDial(session, reason, nowMs);
  if (id !== session.currentId) return session;
  const failures = nowMs - session.lastReceivedAtMs >= STABLE_AFTER_MS ? 0 : session.failures;
  const dialAtMs = session.candidateId === 0 ? nowMs + retryMs(failures) : -1;
  return { ...session, currentId: 0, silentFromMs: nowMs, dialAtMs, failures: failures + 1, reason };
}

function retryMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
}

function afterFailedDial(session: RelaySession, reason: string, nowMs: number): RelaySession {
  const dialAtMs = nowMs + retryMs(session.failures);
  const silentFromMs = session.currentId === 0 && session.silentFromMs < 0 ? nowMs : session.silentFromMs;
  return {
    ...session,
    candidateId: 0,
    dialledAtMs: -1,
    failures: session.failures + 1,
    silentFromMs,
    reason,
    dialAtMs,
  };
}

function advance(session: RelaySession, nowMs: number, actions: SessionAction[]): RelaySession {
  let next = session;
  if (next.candidateId !== 0 && nowMs >= next.dialledAtMs + DIAL_TIMEOUT_MS) {
    actions.push({ kind: "drop", id: next.candidateId });
    next = afterFailedDial(next, `the relay did not respond within ${DIAL_TIMEOUT_MS} ms`, nowMs);
  }
  if (next.currentId !== 0 && nowMs >= next.lastReceivedAtMs + SILENCE_TIMEOUT_MS) {
    actions.push({ kind: "drop", id: next.currentId });
    next = applyClose(next, next.currentId, "the relay stopped responding", nowMs);
  }
  if (next.candidateId === 0 && nowMs >= dialDueMs(next) && dialDueMs(next) >= 0) {
    const id = next.lastId + 1;
    const candidateHasHeartbeat = requestsHeartbeat(next.heartbeat, nowMs);
    actions.push({ kind: "dial", id, hasHeartbeat: candidateHasHeartbeat });
    next = {
      ...next,
      lastId: id,
      candidateId: id,
      candidateHasHeartbeat,
      dialledAtMs: nowMs,
      dialAtMs: -1,
    };
  }
  const lostMs = lostAtMs(next);
  if (next.isLost || lostMs < 0 || nowMs < lostMs) return next;
  const reason = next.currentId !== 0 ? "the relay stopped responding" : next.reason;
  actions.push({ kind: "lost", reason });
  return { ...next, isLost: true, endpointState: "unknown" };
}

/** Time of the next dial; -1 for never. If a drain waits for the status, a second connection requests it before it expires. */
function dialDueMs(session: RelaySession): number {
  if (session.dialAtMs >= 0) return session.dialAtMs;
  return session.currentId === 0 || !isDrainWaiting(session)
    ? -1
    : recheckAtMs(session.heartbeat, session.lastReceivedAtMs);
}

/** Time at which the last status expires; -1 for never. */
function lostAtMs(session: RelaySession): number {
  if (session.currentId === 0) {
    if (session.silentFromMs < 0) return -1;
    // There is no status yet, or it is no longer trusted, because too many consecutive connections failed.
    if (session.lastReceivedAtMs < 0 || session.failures >= TRUSTED_FAILURES_LIMIT) return session.silentFromMs;
    return session.silentFromMs + Math.max(LOST_AFTER_MS, 2 * FIRST_RETRY_MS + responseTimeoutMs(session.heartbeat));
  }
  return isDrainWaiting(session) ? staleAtMs(session.heartbeat, session.lastReceivedAtMs) : -1;
}

function nextWakeMs(session: RelaySession, nowMs: number): number {
  const dueTimesMs = [
    session.candidateId === 0 ? dialDueMs(session) : session.dialledAtMs + DIAL_TIMEOUT_MS,
    session.currentId === 0 ? -1 : session.lastReceivedAtMs + SILENCE_TIMEOUT_MS,
    session.isLost ? -1 : lostAtMs(session),
  ];
  let wakeAtMs = -1;
  for (const atMs of dueTimesMs) if (atMs >= 0 && (wakeAtMs < 0 || atMs < wakeAtMs)) wakeAtMs = atMs;
  return wakeAtMs < 0 ? -1 : Math.max(wakeAtMs, nowMs);
}

function disconnect(session: RelaySession, actions: SessionAction[]): RelaySession {
  if (session.currentId !== 0) actions.push({ kind: "drop", id: session.currentId });
  if (session.candidateId !== 0) actions.push({ kind: "drop", id: session.candidateId });
  return { ...session, isOver: true };
}

function shiftTimes(session: RelaySession, byMs: number): RelaySession {
  return {
    ...session,
    dialledAtMs: session.dialledAtMs < 0 ? -1 : session.dialledAtMs + byMs,
    lastReceivedAtMs: session.lastReceivedAtMs < 0 ? -1 : session.lastReceivedAtMs + byMs,
    silentFromMs: session.silentFromMs < 0 ? -1 : session.silentFromMs + byMs,
  };
}

function isDrainWaiting(session: RelaySession): boolean {
  return session.heartbeat.requestFromMs >= 0 && session.endpointState === "in";
}
