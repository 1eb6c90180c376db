/** Tracks the connections of drained ports from sample to sample, until the kernel does not list them any more. */
import type { TcpSocket } from "../sockets/reading.ts";
import { isOpen, SYN_RECV } from "../sockets/tcp-states.ts";
import {
  addCount,
  addCurrentEvidence,
  addEnded,
  addEvidence,
  addOpen,
  type ConnectionCounts,
  createCounts,
  type ExchangeProgress,
  type OpenResult,
  openConnection,
} from "./connection-counts.ts";
import type { ConnectionKind, ConnectionMemory, TrackedConnection } from "./connection-memory.ts";
import { CYCLING, isCycling, NO_EXCHANGE, nextExchangeStep } from "./cycling.ts";
import { type AckHistory, activityOf, isAmbiguous, NEW_ACK_HISTORY, NO_ACK_HISTORY } from "./quiet.ts";

type ConnectionTracker = {
  readonly startSample: (nowMs: number) => void;
  /** Adds one socket of a drained port, with the server as the local end. A duplicate in the same sample is ignored. */
  readonly add: (socket: TcpSocket, nowMs: number) => void;
  readonly finishSample: (nowMs: number) => ConnectionCounts;
};

/** Longer than nearly all probe timeouts. A connection of the kubelet that is open for longer is traffic. */
const PROBE_LIMIT_MS = 10_000;

export function createConnectionTracker(
  classify: (socket: TcpSocket) => ConnectionKind,
  memory: ConnectionMemory,
): ConnectionTracker {
  let counts = createCounts(0, true);
  let isFinished = true;
  let hasSample = false;
  /** Whether the last sample had untracked connections. If so, a connection without a record is not necessarily new. */
  let hadUntracked = false;

  /** Counts a connection beyond the limit of tracked ones, by its current state only. Its end cannot be detected. */
  const addUntracked = (socket: TcpSocket): void => {
    counts.untracked = counts.untracked + 1;
    const kind = classify(socket);
    if (isOpen(socket.state))
      addOpen(counts, socket, {
        isNew: true,
        firstSeenMs: counts.nowMs,
        hasNewData: true,
        past: NO_ACK_HISTORY,
        exchange: { step: NO_EXCHANGE, dueSinceMs: counts.nowMs },
      });
    else if (socket.state === SYN_RECV && kind !== "own") counts.busy = counts.busy + 1;
  };

  /** Counts an unchanged connection without loading its record, which is faster. @returns false for other connections */
  const addUnchanged = (record: number, socket: TcpSocket): boolean => {
    if (!isOpen(socket.state) || !memory.isUnchanged(record, socket)) return false;
    const activity = activityOf(socket);
    if (activity !== "busy" && (activity !== "idle" || isAmbiguous(socket))) return false;
    const step = memory.exchangeStep(record);
    const cycles = isCycling(step, activity, counts.nowMs - memory.dueSinceMs(record));
    if (addCount(counts, activity, step, cycles))
      counts.left.push(openConnection(socket, counts.nowMs - memory.firstSeenMs(record)));
    memory.storeUnchanged(record, activity === "busy");
    return true;
  };

  const track = (record: number, last: TrackedConnection | undefined, socket: TcpSocket): void => {
    const { nowMs } = counts;
    const before = last !== undefined && isSame(last, socket) ? last : undefined;
    const kind = before === undefined ? newKind(counts, socket, classify, hadUntracked) : agedKind(before, nowMs);
    const initialPast = hadUntracked ? NO_ACK_HISTORY : NEW_ACK_HISTORY;
    const past = before === undefined ? initialPast : ackHistoryOf(before, socket);
    const exchange = exchangeAfter(before, socket, nowMs);
    const result =
      kind === "probe" ? countProbe(counts, socket) : countConnection(counts, { socket, kind, before, past, exchange });
    memory.store(record, {
      firstSeenMs: before?.firstSeenMs ?? nowMs,
      open: isLive(socket.state),
      working: result.working,
      kind,
      dataSegmentsReceived: socket.dataSegmentsReceived,
      dataSegmentsSent: socket.dataSegmentsSent,
      pureAcksSent: socket.pureAcksSent,
      past: result.answered ? answeredNow(socket, past) : past,
      exchangeStep: exchange.step,
      dueSinceMs: exchange.dueSinceMs,
    });
  };

  return {
    startSample: (nowMs) => {
      const before = counts;
      counts = createCounts(nowMs, !hasSample);
      memory.startSample(nowMs);
      if (!isFinished) {
        counts.evidenceMs = before.evidenceMs;
        counts.othersEvidenceMs = before.othersEvidenceMs;
        counts.newConnections = before.newConnections;
        counts.arrivals = before.arrivals;
        hadUntracked = hadUntracked || before.untracked > 0;
      }
      isFinished = false;
    },
    add: (socket, nowMs) => {
      counts.nowMs = nowMs;
      const found = memory.find(socket);
      if (found >= 0 && memory.isStored(found)) return;
      if (found >= 0 && addUnchanged(found, socket)) return;
      const record = found >= 0 ? found : memory.add(socket);
      if (record < 0) {
        addUntracked(socket);
        return;
      }
      track(record, found >= 0 ? memory.load(found) : undefined, socket);
    },
    finishSample: (nowMs) => {
      counts.nowMs = nowMs;
      // Working connections may have ended without a TIME_WAIT entry since the last sample. So may untracked ones.
      const missing = memory.dropMissing();
      const hasUntracked = hadUntracked || counts.untracked > 0;
      const hasEndedOthers = missing.working > missing.cyclingWorking;
      if (counts.hasOthersWorking || hasEndedOthers || hasUntracked) addEvidence(counts, 0, false);
      else if (counts.hasWorking || missing.working > 0) addEvidence(counts, 0, true);
      hadUntracked = counts.untracked > 0;
      hasSample = true;
      isFinished = true;
      return counts;
    },
  };
}

function isSame(last: TrackedConnection, socket: TcpSocket): boolean {
  if (!last.open) return !isLive(socket.state);
  if (last.dataSegmentsSent < 0 || socket.dataSegmentsSent < 0) return true;
  return socket.dataSegmentsSent >= last.dataSegmentsSent && socket.dataSegmentsReceived >= last.dataSegmentsReceived;
}

function isLive(state: number): boolean {
  return isOpen(state) || state === SYN_RECV;
}

function newKind(
  counts: ConnectionCounts,
  socket: TcpSocket,
  classify: (socket: TcpSocket) => ConnectionKind,
  hadUntracked: boolean,
): ConnectionKind {
  if (counts.first && !isLive(socket.state)) return "traffic";
  const kind = classify(socket);
  // The connection may be old, so it is neither counted as a probe nor as a new connection.
  if (hadUntracked) return "traffic";
  // The kernel's counter PassiveOpens does not include handshakes in progress.
  if (!counts.first && kind !== "own" && socket.state !== SYN_RECV) {
    counts.newConnections = counts.newConnections + 1;
    if (kind === "traffic") counts.arrivals = counts.arrivals + 1;
  }
  return kind;
}

function agedKind(before: TrackedConnection, nowMs: number): ConnectionKind {
  return before.kind === "probe" && before.open && nowMs - before.firstSeenMs > PROBE_LIMIT_MS
    ? "traffic"
    : before.kind;
}

function ackHistoryOf(before: TrackedConnection, socket: TcpSocket): AckHistory {
  const { past } = before;
  if (socket.dataSegmentsReceived === before.dataSegmentsReceived) return past;
  // Counters that disappeared may later belong to another connection with the same addresses and ports.
  if (socket.dataSegmentsReceived < 0) return NO_ACK_HISTORY;
  return {
    pureAcksBefore: before.pureAcksSent,
    answeredReceived: past.answeredReceived,
    answeredSent: past.answeredSent,
  };
}

function exchangeAfter(before: TrackedConnection | undefined, socket: TcpSocket, nowMs: number): ExchangeProgress {
  const receivedAtMs = nowMs - Math.max(0, socket.lastDataReceivedMs);
  if (before === undefined) return { step: NO_EXCHANGE, dueSinceMs: receivedAtMs };
  if (socket.dataSegmentsSent < 0 || before.dataSegmentsSent < 0) {
    return { step: before.exchangeStep, dueSinceMs: receivedAtMs };
  }
  const hasReceived = socket.dataSegmentsReceived > before.dataSegmentsReceived;
  const hasSent = socket.dataSegmentsSent > before.dataSegmentsSent;
  return {
    step: nextExchangeStep(before.exchangeStep, hasReceived, hasSent),
    // The last data of an upload is new, but its response has been outstanding since its first data.
    dueSinceMs: before.working && !hasSent ? before.dueSinceMs : receivedAtMs,
  };
}

/** Whether data was sent or received since the last sample. Always true if the source has no segment counters. */
function hasMoved(before: TrackedConnection, socket: TcpSocket): boolean {
  if (before.kind === "probe" || socket.dataSegmentsSent < 0) return true;
  return (
    socket.dataSegmentsReceived !== before.dataSegmentsReceived || socket.dataSegmentsSent !== before.dataSegmentsSent
  );
}

function answeredNow(socket: TcpSocket, past: AckHistory): AckHistory {
  return {
    pureAcksBefore: past.pureAcksBefore,
    answeredReceived: socket.dataSegmentsReceived,
    answeredSent: socket.dataSegmentsSent,
  };
}

type TrackedSocket = {
  readonly socket: TcpSocket;
  readonly kind: ConnectionKind;
  readonly before: TrackedConnection | undefined;
  readonly past: AckHistory;
  readonly exchange: ExchangeProgress;
};

function countConnection(
  counts: ConnectionCounts,
  { socket, kind, before, past, exchange }: TrackedSocket,
): OpenResult {
  if (isOpen(socket.state)) {
    const hasNewData = before === undefined || hasMoved(before, socket);
    const isNew = before === undefined && !counts.first;
    return addOpen(counts, socket, {
      isNew,
      firstSeenMs: before?.firstSeenMs ?? counts.nowMs,
      hasNewData,
      past,
      exchange,
    });
  }
  if (socket.state === SYN_RECV) {
    if (kind === "own" || isHandshakeOverdue(counts, before)) return NOT_WORKING;
    counts.busy = counts.busy + 1;
    addCurrentEvidence(counts, false);
    return NOT_WORKING;
  }
  const isNew = before === undefined && kind === "traffic" && !counts.first;
  if (isNew || (before?.working ?? false)) addEnded(counts, socket, before?.exchangeStep === CYCLING);
  return NOT_WORKING;
}

/** A handshake takes less than this, even with SYN-ACK retransmissions after 1 s and 3 s. Those of vanished or hostile clients last a minute and do not count. */
const HANDSHAKE_LIMIT_MS = 5_000;

function isHandshakeOverdue(counts: ConnectionCounts, before: TrackedConnection | undefined): boolean {
  return before !== undefined && counts.nowMs - before.firstSeenMs > HANDSHAKE_LIMIT_MS;
}

/** A busy probe counts as busy, because a client behind the node's address cannot be distinguished from the kubelet. */
function countProbe(counts: ConnectionCounts, socket: TcpSocket): OpenResult {
  if (isOpen(socket.state) && activityOf(socket) === "busy") counts.busy = counts.busy + 1;
  return NOT_WORKING;
}

const NOT_WORKING: OpenResult = { working: false, answered: false };
