/**
 * Defines *quiet*.
 *
 * Classifies a connection by the side that sent last and by unread data, without parsing the protocol (measured for HTTP/1.1, TLS,
 * h2c and event streams). A Pod is quiet if all its connections are idle and its backlogs are empty. The traffic has ended if the
 * last evidence of traffic is older than the quiet period. Pure.
 */
import type { TcpSocket } from "../sockets/reading.ts";
import { CLOSE_WAIT, CLOSING, ESTABLISHED, FIN_WAIT1, LAST_ACK } from "../sockets/tcp-states.ts";

/** `ambiguous`: request and response are in the same jiffy, so their order is unknown. `unknown`: the source does not have ages. */
export type Activity = "busy" | "ambiguous" | "idle" | "unknown";

/** A connection is ambiguous for at most this time, within which the response to an unanswered request is expected. */
const AMBIGUOUS_LIMIT_MS = 10_000;

/**
 * The first matching rule decides. Data with a smaller age is newer; all ages are from the same clock. Not a table of
 * rules, which would need 9 % more CPU: a sample can have 131,072 connections.
 */
export function activityOf(socket: TcpSocket): Activity {
  if (unreadBytes(socket) > 0 || unacknowledgedBytes(socket) > 0) return "busy";
  // The server has closed its side, so no response follows.
  if (socket.state !== ESTABLISHED && socket.state !== CLOSE_WAIT) return "idle";
  if (socket.lastDataReceivedMs < 0 || socket.lastDataSentMs < 0) return "unknown";
  // A client that has not sent data does not wait for a response.
  if (socket.bytesReceived === 0) return "idle";
  // Before the first data is sent, "last sent" is the start of the connection, so a first request could seem answered.
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

/** One connection that is not idle determines the result. If there are several kinds of such connections, the first check decides. */
export function podActivityOf(counts: Counts): PodActivity {
  if (counts.backlog > 0 || counts.busy > 0) return "busy";
  if (counts.untracked > 0) return "untracked";
  if (counts.ambiguous > 0) return "ambiguous";
  return counts.unknown > 0 ? "unknown" : "quiet";
}

/** End of the quiet period, which starts at the last traffic, but not before the trigger, because earlier samples do not exist. */
export function quietDueMs(quietPeriodMs: number, lastEvidenceMs: number, triggeredAtMs: number): number {
  return Math.max(lastEvidenceMs, triggeredAtMs) + quietPeriodMs;
}

/**
 * If the source is `/proc/net`, the times of the last data are unknown, and a connection that waits for its response seems idle. Most
 * responses are sent within this time.
 */
export const UNKNOWN_WAIT_MS = 10_000;

/** Returns the time without observed traffic after which a drain with connections of unknown activity ends as `blind`. */
export function unknownWaitMs(quietPeriodMs: number): number {
  return Math.max(quietPeriodMs, UNKNOWN_WAIT_MS);
}

/** The kernel delays an acknowledgement by at most 200 ms. The other 100 ms are for a busy node. */
const ACK_DELAY_LIMIT_MS = 300;

export type AckHistory = {
  /** `pureAcksSent` at a time before the last data was received. */
  readonly pureAcksBefore: number;
  /** Number of data segments received and sent at the last time when all data was certainly answered; -1 if there was none. */
  readonly answeredReceived: number;
  readonly answeredSent: number;
};

export const NEW_ACK_HISTORY: AckHistory = { pureAcksBefore: 0, answeredReceived: 0, answeredSent: 0 };

export const NO_ACK_HISTORY: AckHistory = { pureAcksBefore: -1, answeredReceived: -1, answeredSent: -1 };

export function isAmbiguous(socket: TcpSocket): boolean {
  return (
    socket.lastDataReceivedMs === socket.lastDataSentMs &&
    socket.lastAckReceivedMs >= socket.lastDataSentMs &&
    socket.bytesReceived !== 0
  );
}

/** Whether an ambiguous connection is certainly answered. The kernel acknowledges data by a pure ACK or with sent data. */
export function isAnswered(socket: TcpSocket, ackHistory: AckHistory): boolean {
  if (socket.pureAcksSent < 0) return false;
  if (ackHistory.answeredReceived >= 0) {
    if (socket.dataSegmentsReceived === ackHistory.answeredReceived) return true;
    // After all data was answered, one segment was received, and data was sent, which can only be the response to that segment.
    if (
      socket.dataSegmentsReceived === ackHistory.answeredReceived + 1 &&
      socket.dataSegmentsSent > ackHistory.answeredSent
    )
      return true;
  }
  // From before the last data was received until now, no pure acknowledgement was sent, so sent data acknowledged the last data.
  return socket.pureAcksSent === ackHistory.pureAcksBefore && socket.lastDataReceivedMs >= ACK_DELAY_LIMIT_MS;
}

/**
 * Whether a connection was closed, without a reset, before the response to its last request. If the times do not show which side
 * sent last (two segments in one jiffy, or data that the client sends when it closes), the numbers of segments are compared.
 *
 * @param ackHistory of the last sample; {@link NEW_ACK_HISTORY} for a connection that opened after it
 */
export function isClosedUnanswered(socket: TcpSocket, ackHistory: AckHistory): boolean {
  // The kernel resets a connection that is closed with unread data. An unread FIN counts as one byte.
  if (socket.receiveQueue > 1 || socket.dataSegmentsReceived <= 0) return false;
  const hasSentLast = socket.lastDataReceivedMs > socket.lastDataSentMs;
  if (hasSentLast && socket.dataSegmentsSent > 0) return false;
  const isHistoryKnown = ackHistory.answeredReceived >= 0;
  if (!isHistoryKnown && socket.lastDataReceivedMs < socket.lastDataSentMs) return true;
  const answeredReceived = isHistoryKnown ? ackHistory.answeredReceived : 0;
  const answeredSent = isHistoryKnown ? ackHistory.answeredSent : 0;
  return socket.dataSegmentsReceived - answeredReceived > socket.dataSegmentsSent - answeredSent;
}

export function dataAgeMs(socket: TcpSocket): number {
  if (socket.lastDataSentMs < 0 || socket.lastDataReceivedMs < 0) return -1;
  return Math.min(socket.lastDataSentMs, socket.lastDataReceivedMs);
}

/** Returns the unread bytes. The receive queue counts the peer's FIN as one byte. */
function unreadBytes(socket: TcpSocket): number {
  const state = socket.state;
  return state === CLOSE_WAIT || state === LAST_ACK || state === CLOSING
    ? socket.receiveQueue - 1
    : socket.receiveQueue;
}

/** Returns the unacknowledged bytes. The send queue counts the server's FIN, which a vanished client never acknowledges. */
function unacknowledgedBytes(socket: TcpSocket): number {
  const state = socket.state;
  return state === FIN_WAIT1 || state === LAST_ACK || state === CLOSING ? socket.sendQueue - 1 : socket.sendQueue;
}
