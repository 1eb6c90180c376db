/**
 * Tells an open request from an idle connection without speaking its protocol: who spoke last, and whether the other
 * side has taken it. Measured on HTTP/1.1, TLS, h2c and event streams; pure.
 */
import type { TcpSocket } from "../sockets/reading.ts";
import { CLOSE_WAIT, CLOSING, ESTABLISHED, FIN_WAIT1, LAST_ACK } from "../sockets/tcp-states.ts";

/** `tie`: request and answer fell into the same jiffy and nothing says which came last. `unknown`: the source has no ages. */
export type Work = "busy" | "tie" | "idle" | "unknown";

/** A client that acknowledges at once looks like a tie for ever; a real answer takes its turn within this time. */
const TIE_LIMIT_MS = 10_000;

export function workOf(socket: TcpSocket): Work {
  if (unread(socket) > 0 || unsent(socket) > 0) return "busy";
  if (socket.state !== ESTABLISHED && socket.state !== CLOSE_WAIT) return "idle";
  if (socket.lastDataReceivedMs < 0 || socket.lastDataSentMs < 0) return "unknown";
  // A connection that never sent a byte has nothing to be answered.
  if (socket.bytesReceived === 0) return "idle";
  // The clock of "sent" starts with the connection, so a first request in the same jiffy would look answered.
  if (socket.dataSegmentsSent === 0) return "busy";
  if (socket.lastDataReceivedMs > socket.lastDataSentMs) return "idle";
  // Ages are smaller the newer they are, and come from one clock: even one jiffy of difference is an order.
  if (socket.lastDataReceivedMs < socket.lastDataSentMs) return "busy";
  return isTied(socket) && socket.lastDataSentMs < TIE_LIMIT_MS ? "tie" : "idle";
}

/** The kernel puts off an acknowledgement for 200 ms at most; the rest is for a busy machine. */
const ACKNOWLEDGED_WITHIN_MS = 300;

/** What earlier looks knew of a connection. Before its first look, that is its start: everything 0. */
export type Past = {
  /** `pureAcksSent` at some moment before the last data came. */
  readonly pureAcksBefore: number;
  /** Segments in and out when all that had come was certainly answered; -1 when that was never so. */
  readonly answeredIn: number;
  readonly answeredOut: number;
};

export const START: Past = { pureAcksBefore: 0, answeredIn: 0, answeredOut: 0 };

/** No look was taken. */
export const NO_PAST: Past = { pureAcksBefore: -1, answeredIn: -1, answeredOut: -1 };

/** Whether request, answer and acknowledgement share one jiffy, so that their order is lost. */
export function isTied(socket: TcpSocket): boolean {
  return (
    socket.lastDataReceivedMs === socket.lastDataSentMs &&
    socket.lastAckReceivedMs >= socket.lastDataSentMs &&
    socket.bytesReceived !== 0
  );
}

/** Whether a tie is certainly an answered request. Data is acknowledged on its own or along with data that is sent. */
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

/** @returns milliseconds since data last went either way, or -1 where the source cannot tell */
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
