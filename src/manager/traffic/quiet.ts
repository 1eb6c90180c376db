/**
 * What *quiet* means, in one place.
 *
 * A connection is busy, tied, idle or unknown by who sent last and whether the other side has taken it, without parsing
 * its protocol (measured on HTTP/1.1, TLS, h2c and event streams). A Pod is quiet if all its connections are idle and
 * none waits in a backlog. Traffic has ended if the last evidence of it is a quiet period ago. Pure.
 */
import type { TcpSocket } from "../sockets/reading.ts";
import { CLOSE_WAIT, CLOSING, ESTABLISHED, FIN_WAIT1, LAST_ACK } from "../sockets/tcp-states.ts";

/** `tied`: request and answer share a jiffy, and nothing shows which came last. `unknown`: the source has no ages. */
export type Activity = "busy" | "tied" | "idle" | "unknown";

/** A client that acknowledges at once looks tied for ever; a real answer takes its turn within this time. */
const TIE_LIMIT_MS = 10_000;

/**
 * The first line that applies decides. Ages are smaller the newer they are, and come from one clock. Called for each of
 * up to 131,072 connections a sample: the same rules as rows of data cost 9 % more CPU.
 */
export function activityOf(socket: TcpSocket): Activity {
  if (unread(socket) > 0 || unsent(socket) > 0) return "busy";
  // The server has closed its side: it answers nothing more.
  if (socket.state !== ESTABLISHED && socket.state !== CLOSE_WAIT) return "idle";
  if (socket.lastDataReceivedMs < 0 || socket.lastDataSentMs < 0) return "unknown";
  // A client that never sent a byte waits for no answer.
  if (socket.bytesReceived === 0) return "idle";
  // The clock of "sent" starts with the connection, so a first request in the same jiffy would look answered.
  if (socket.dataSegmentsSent === 0) return "busy";
  // Even one jiffy of difference is an order.
  if (socket.lastDataReceivedMs > socket.lastDataSentMs) return "idle";
  if (socket.lastDataReceivedMs < socket.lastDataSentMs) return "busy";
  return isTied(socket) && socket.lastDataSentMs < TIE_LIMIT_MS ? "tied" : "idle";
}

/** What a sample counts of a Pod. */
type Counts = {
  readonly backlog: number;
  readonly busy: number;
  /** Connections beyond what can be remembered from sample to sample. */
  readonly untracked: number;
  readonly tied: number;
  readonly unknown: number;
};

export type PodActivity = "busy" | "untracked" | "tied" | "unknown" | "quiet";

/** One connection that is not idle keeps the Pod from being quiet; the one that says most names why. */
export function podActivityOf(counts: Counts): PodActivity {
  if (counts.backlog > 0 || counts.busy > 0) return "busy";
  if (counts.untracked > 0) return "untracked";
  if (counts.tied > 0) return "tied";
  return counts.unknown > 0 ? "unknown" : "quiet";
}

/**
 * When the quiet period is over if no more traffic comes. The manager did not watch before the trigger, so the period
 * starts there at the earliest.
 */
export function quietDueMs(quietPeriodMs: number, lastEvidenceMs: number, triggeredAtMs: number): number {
  return Math.max(lastEvidenceMs, triggeredAtMs) + quietPeriodMs;
}

/** Without ages a request that is being answered looks idle. A real answer mostly takes its turn within this time. */
export const UNKNOWN_MS = 10_000;

/** How long no traffic may show before connections of unknown activity are handed over. */
export function unknownWaitMs(quietPeriodMs: number): number {
  return Math.max(quietPeriodMs, UNKNOWN_MS);
}

/** The kernel puts off an acknowledgement for 200 ms at most; the rest is for a busy machine. */
const ACKNOWLEDGED_WITHIN_MS = 300;

/** What earlier samples recorded of a connection. Before its first sample, that is its start: everything 0. */
export type Past = {
  /** `pureAcksSent` at some moment before the last data came. */
  readonly pureAcksBefore: number;
  /** Segments in and out when all that had come was certainly answered; -1 when that was never so. */
  readonly answeredIn: number;
  readonly answeredOut: number;
};

export const START: Past = { pureAcksBefore: 0, answeredIn: 0, answeredOut: 0 };

/** No sample was taken. */
export const NO_PAST: Past = { pureAcksBefore: -1, answeredIn: -1, answeredOut: -1 };

/** Whether request, answer and acknowledgement share one jiffy, so that their order is lost. */
export function isTied(socket: TcpSocket): boolean {
  return (
    socket.lastDataReceivedMs === socket.lastDataSentMs &&
    socket.lastAckReceivedMs >= socket.lastDataSentMs &&
    socket.bytesReceived !== 0
  );
}

/** Whether a tied connection is certainly answered. Data is acknowledged on its own or along with data that is sent. */
export function isAnswered(socket: TcpSocket, past: Past): boolean {
  if (socket.pureAcksSent < 0) return false;
  if (past.answeredIn >= 0) {
    if (socket.dataSegmentsReceived === past.answeredIn) return true;
    // One segment came since, and data went out: nothing else was there to be answered.
    if (socket.dataSegmentsReceived === past.answeredIn + 1 && socket.dataSegmentsSent > past.answeredOut) return true;
  }
  // No acknowledgement went out on its own since before the last data came, so data was sent after it.
  return socket.pureAcksSent === past.pureAcksBefore && socket.lastDataReceivedMs >= ACKNOWLEDGED_WITHIN_MS;
}

/** @returns milliseconds since data last went either way, or -1 if the source has no ages */
export function dataAgeMs(socket: TcpSocket): number {
  if (socket.lastDataSentMs < 0 || socket.lastDataReceivedMs < 0) return -1;
  return Math.min(socket.lastDataSentMs, socket.lastDataReceivedMs);
}

/** The peer's FIN counts as one byte in the queue. */
function unread(socket: TcpSocket): number {
  const s = socket.state;
  return s === CLOSE_WAIT || s === LAST_ACK || s === CLOSING ? socket.receiveQueue - 1 : socket.receiveQueue;
}

/** So does our own: a client that is gone for good never acknowledges it, but has had all its data. */
function unsent(socket: TcpSocket): number {
  const s = socket.state;
  return s === FIN_WAIT1 || s === LAST_ACK || s === CLOSING ? socket.sendQueue - 1 : socket.sendQueue;
}
