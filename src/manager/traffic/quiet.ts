/**
 * Defines *quiet*.
 *
 * A connection is busy, idle, ambiguous or unknown by which side sent last and whether the other has read it, without parsing its
 * protocol (measured for HTTP/1.1, TLS, h2c and event streams). A Pod is quiet if all its connections are idle and its backlogs
 * are empty. Traffic has ended if its last evidence is a quiet period ago. Pure.
 */
import type { TcpSocket } from "../sockets/reading.ts";
import { CLOSE_WAIT, CLOSING, ESTABLISHED, FIN_WAIT1, LAST_ACK } from "../sockets/tcp-states.ts";

/** `ambiguous`: request and response share a jiffy, so their order is lost. `unknown`: the source has no ages. */
export type Activity = "busy" | "ambiguous" | "idle" | "unknown";

/** A client that acknowledges at once stays ambiguous, while a response follows within this time. */
const AMBIGUOUS_LIMIT_MS = 10_000;

/**
 * The first matching line decides. A smaller age is newer; all come from one clock. Called for up to 131,072 connections per sample;
 * the same rules as a table cost 9 % more CPU.
 */
export function activityOf(socket: TcpSocket): Activity {
  if (unread(socket) > 0 || unsent(socket) > 0) return "busy";
  // The server has closed its side, so no response follows.
  if (socket.state !== ESTABLISHED && socket.state !== CLOSE_WAIT) return "idle";
  if (socket.lastDataReceivedMs < 0 || socket.lastDataSentMs < 0) return "unknown";
  // A client that has sent nothing waits for nothing.
  if (socket.bytesReceived === 0) return "idle";
  // "Last sent" starts with the connection, so a first request in the same jiffy would seem answered.
  if (socket.dataSegmentsSent === 0) return "busy";
  if (socket.lastDataReceivedMs > socket.lastDataSentMs) return "idle";
  if (socket.lastDataReceivedMs < socket.lastDataSentMs) return "busy";
  return isAmbiguous(socket) && socket.lastDataSentMs < AMBIGUOUS_LIMIT_MS ? "ambiguous" : "idle";
}

type Counts = {
  readonly backlog: number;
  readonly busy: number;
  readonly untracked: number;
  readonly ambiguous: number;
  readonly unknown: number;
};

export type PodActivity = "busy" | "untracked" | "ambiguous" | "unknown" | "quiet";

/** One connection that is not idle is enough; the most significant one determines the result. */
export function podActivityOf(counts: Counts): PodActivity {
  if (counts.backlog > 0 || counts.busy > 0) return "busy";
  if (counts.untracked > 0) return "untracked";
  if (counts.ambiguous > 0) return "ambiguous";
  return counts.unknown > 0 ? "unknown" : "quiet";
}

/** End of the quiet period, which starts at the trigger at the earliest, because no samples precede it. */
export function quietDueMs(quietPeriodMs: number, lastEvidenceMs: number, triggeredAtMs: number): number {
  return Math.max(lastEvidenceMs, triggeredAtMs) + quietPeriodMs;
}

/** Without ages a request in progress seems idle; most responses follow within this time. */
export const UNKNOWN_MS = 10_000;

/** Time without observed traffic after which a drain with connections of unknown activity ends as `blind`. */
export function unknownWaitMs(quietPeriodMs: number): number {
  return Math.max(quietPeriodMs, UNKNOWN_MS);
}

/** The kernel delays an acknowledgement by at most 200 ms; the rest is for a busy machine. */
const ACKNOWLEDGED_WITHIN_MS = 300;

export type Past = {
  /** `pureAcksSent` at some time before the last data was received. */
  readonly pureAcksBefore: number;
  /** Data segments received and sent when all data was certainly answered; -1 if that never was the case. */
  readonly answeredIn: number;
  readonly answeredOut: number;
};

export const START: Past = { pureAcksBefore: 0, answeredIn: 0, answeredOut: 0 };

export const NO_PAST: Past = { pureAcksBefore: -1, answeredIn: -1, answeredOut: -1 };

export function isAmbiguous(socket: TcpSocket): boolean {
  return (
    socket.lastDataReceivedMs === socket.lastDataSentMs &&
    socket.lastAckReceivedMs >= socket.lastDataSentMs &&
    socket.bytesReceived !== 0
  );
}

/** Whether an ambiguous connection is certainly answered. Data is acknowledged on its own or along with data that is sent. */
export function isAnswered(socket: TcpSocket, past: Past): boolean {
  if (socket.pureAcksSent < 0) return false;
  if (past.answeredIn >= 0) {
    if (socket.dataSegmentsReceived === past.answeredIn) return true;
    // One segment was received since, and data was sent, which can only be its response.
    if (socket.dataSegmentsReceived === past.answeredIn + 1 && socket.dataSegmentsSent > past.answeredOut) return true;
  }
  // No pure acknowledgement since before the last data, so data was sent after it.
  return socket.pureAcksSent === past.pureAcksBefore && socket.lastDataReceivedMs >= ACKNOWLEDGED_WITHIN_MS;
}

export function dataAgeMs(socket: TcpSocket): number {
  if (socket.lastDataSentMs < 0 || socket.lastDataReceivedMs < 0) return -1;
  return Math.min(socket.lastDataSentMs, socket.lastDataReceivedMs);
}

/** The receive queue includes one byte for the peer's FIN. */
function unread(socket: TcpSocket): number {
  const s = socket.state;
  return s === CLOSE_WAIT || s === LAST_ACK || s === CLOSING ? socket.receiveQueue - 1 : socket.receiveQueue;
}

/** The send queue includes one byte for the own FIN, which a vanished client never acknowledges. */
function unsent(socket: TcpSocket): number {
  const s = socket.state;
  return s === FIN_WAIT1 || s === LAST_ACK || s === CLOSING ? socket.sendQueue - 1 : socket.sendQueue;
}
