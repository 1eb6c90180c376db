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
        firstSampledAtMs: counts.nowMs,
        hasNewData: true,
        ackHistory: NO_ACK_HISTORY,
        exchange: { step: NO_EXCHANGE, outstandingSinceMs: counts.nowMs },
      });
    else if (socket.state === SYN_RECV && kind !== "own") counts.busy = counts.busy + 1;
  };

  /** Counts an unchanged connection without loading its record, which is faster. @returns false for other connections */
  const addUnchanged = (record: number, socket: TcpSocket): boolean => {
    if (!isOpen(socket.state) || !memory.isUnchanged(record, socket)) return false;
    const activity = activityOf(socket);
    if (activity !== "busy" && (activity !== "idle" || isAmbiguous(socket))) return false;
    const step = memory.exchangeStep(record);
    const cycles = isCycling(step, activity, counts.nowMs - memory.outstandingSinceMs(record));
    if (addCount(counts, activity, step, cycles))
      counts.left.push(openConnection(socket, counts.nowMs - memory.firstSampledAtMs(record)));
    memory.storeUnchanged(record, activity === "busy");
    return true;
  };

  const track = (record: number, last: TrackedConnection | undefined, socket: TcpSocket): void => {
    const { nowMs } = counts;
    const previous = last !== undefined && isSameConnection(last, socket) ? last : undefined;
    const kind =
      previous === undefined ? classifyNew(counts, socket, classify, hadUntracked) : currentKind(previous, nowMs);
    const initialAckHistory = hadUntracked ? NO_ACK_HISTORY : NEW_ACK_HISTORY;
    const ackHistory = previous === undefined ? initialAckHistory : ackHistoryOf(previous, socket);
    const exchange = exchangeAfter(previous, socket, nowMs);
    const result =
      kind === "probe"
        ? countProbe(counts, socket)
        : countConnection(counts, { socket, kind, previous, ackHistory, exchange });
    memory.store(record, {
      firstSampledAtMs: previous?.firstSampledAtMs ?? nowMs,
      open: isLive(socket.state),
      working: result.working,
      kind,
      dataSegmentsReceived: socket.dataSegmentsReceived,
      dataSegmentsSent: socket.dataSegmentsSent,
      pureAcksSent: socket.pureAcksSent,
      ackHistory: result.answered ? ackHistoryAfterAnswer(socket, ackHistory) : ackHistory,
      exchangeStep: exchange.step,
      outstandingSinceMs: exchange.outstandingSinceMs,
    });
  };

  return {
    startSample: (nowMs) => {
      const unfinishedCounts = counts;
      counts = createCounts(nowMs, !hasSample);
      memory.startSample(nowMs);
      if (!isFinished) {
        counts.evidenceMs = unfinishedCounts.evidenceMs;
        counts.othersEvidenceMs = unfinishedCounts.othersEvidenceMs;
        counts.newConnections = unfinishedCounts.newConnections;
        counts.arrivals = unfinishedCounts.arrivals;
        hadUntracked = hadUntracked || unfinishedCounts.untracked > 0;
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
      // Working and untracked connections may have ended without a TIME_WAIT entry since the last sample.
      const missing = memory.dropMissing();
      const hasUntracked = hadUntracked || counts.untracked > 0;
      const hasEndedOthers = missing.workingCount > missing.cyclingWorkingCount;
      if (counts.hasOthersWorking || hasEndedOthers || hasUntracked) addEvidence(counts, 0, false);
      else if (counts.hasWorking || missing.workingCount > 0) addEvidence(counts, 0, true);
      hadUntracked = counts.untracked > 0;
      hasSample = true;
      isFinished = true;
      return counts;
    },
  };
}

function isSameConnection(last: TrackedConnection, socket: TcpSocket): boolean {
  if (!last.open) return !isLive(socket.state);
  if (last.dataSegmentsSent < 0 || socket.dataSegmentsSent < 0) return true;
  return socket.dataSegmentsSent >= last.dataSegmentsSent && socket.dataSegmentsReceived >= last.dataSegmentsReceived;
}

function isLive(state: number): boolean {
  return isOpen(state) || state === SYN_RECV;
}

function classifyNew(
  counts: ConnectionCounts,
  socket: TcpSocket,
  classify: (socket: TcpSocket) => ConnectionKind,
  hadUntracked: boolean,
): ConnectionKind {
  if (counts.isFirst && !isLive(socket.state)) return "traffic";
  const kind = classify(socket);
  // If the last sample had untracked connections, this connection may be old, so it counts neither as a probe nor as new.
  if (hadUntracked) return "traffic";
  // Handshakes in progress are not counted, because the kernel's counter PassiveOpens does not include them either.
  if (!counts.isFirst && kind !== "own" && socket.state !== SYN_RECV) {
    counts.newConnections = counts.newConnections + 1;
    if (kind === "traffic") counts.arrivals = counts.arrivals + 1;
  }
  return kind;
}

function currentKind(previous: TrackedConnection, nowMs: number): ConnectionKind {
  return previous.kind === "probe" && previous.open && nowMs - previous.firstSampledAtMs > PROBE_LIMIT_MS
    ? "traffic"
    : previous.kind;
}

function ackHistoryOf(previous: TrackedConnection, socket: TcpSocket): AckHistory {
  const { ackHistory } = previous;
  if (socket.dataSegmentsReceived === previous.dataSegmentsReceived) return ackHistory;
  // If this sample does not have counters, later counters may be those of another connection with the same addresses and ports.
  if (socket.dataSegmentsReceived < 0) return NO_ACK_HISTORY;
  return {
    pureAcksBefore: previous.pureAcksSent,
    answeredReceived: ackHistory.answeredReceived,
    answeredSent: ackHistory.answeredSent,
  };
}

function exchangeAfter(previous: TrackedConnection | undefined, socket: TcpSocket, nowMs: number): ExchangeProgress {
  const receivedAtMs = nowMs - Math.max(0, socket.lastDataReceivedMs);
  if (previous === undefined) return { step: NO_EXCHANGE, outstandingSinceMs: receivedAtMs };
  if (socket.dataSegmentsSent < 0 || previous.dataSegmentsSent < 0) {
    return { step: previous.exchangeStep, outstandingSinceMs: receivedAtMs };
  }
  const hasReceived = socket.dataSegmentsReceived > previous.dataSegmentsReceived;
  const hasSent = socket.dataSegmentsSent > previous.dataSegmentsSent;
  return {
    step: nextExchangeStep(previous.exchangeStep, hasReceived, hasSent),
    // An upload may still send data, but its response has been outstanding since the upload's first segment.
    outstandingSinceMs: previous.working && !hasSent ? previous.outstandingSinceMs : receivedAtMs,
  };
}

/** Whether data was sent or received since the last sample. Always true if the source does not have segment counters. */
function hasDataSince(previous: TrackedConnection, socket: TcpSocket): boolean {
  if (previous.kind === "probe" || socket.dataSegmentsSent < 0) return true;
  return (
    socket.dataSegmentsReceived !== previous.dataSegmentsReceived ||
    socket.dataSegmentsSent !== previous.dataSegmentsSent
  );
}

function ackHistoryAfterAnswer(socket: TcpSocket, ackHistory: AckHistory): AckHistory {
  return {
    pureAcksBefore: ackHistory.pureAcksBefore,
    answeredReceived: socket.dataSegmentsReceived,
    answeredSent: socket.dataSegmentsSent,
  };
}

type TrackedSocket = {
  readonly socket: TcpSocket;
  readonly kind: ConnectionKind;
  readonly previous: TrackedConnection | undefined;
  readonly ackHistory: AckHistory;
  readonly exchange: ExchangeProgress;
};

function countConnection(
  counts: ConnectionCounts,
  { socket, kind, previous, ackHistory, exchange }: TrackedSocket,
): OpenResult {
  if (isOpen(socket.state)) {
    const hasNewData = previous === undefined || hasDataSince(previous, socket);
    const isNew = previous === undefined && !counts.isFirst;
    return addOpen(counts, socket, {
      isNew,
      firstSampledAtMs: previous?.firstSampledAtMs ?? counts.nowMs,
      hasNewData,
      ackHistory,
      exchange,
    });
  }
  if (socket.state === SYN_RECV) {
    if (kind === "own" || isHandshakeOverdue(counts, previous)) return NOT_WORKING;
    counts.busy = counts.busy + 1;
    addCurrentEvidence(counts, false);
    return NOT_WORKING;
  }
  const isNew = previous === undefined && kind === "traffic" && !counts.isFirst;
  if (isNew || (previous?.working ?? false)) addEnded(counts, socket, previous?.exchangeStep === CYCLING);
  return NOT_WORKING;
}

/**
 * A handshake takes less than this, even with SYN-ACK retransmissions after 1 s and 3 s. Handshakes of vanished or hostile clients last
 * a minute and do not count.
 */
const HANDSHAKE_LIMIT_MS = 5_000;

function isHandshakeOverdue(counts: ConnectionCounts, previous: TrackedConnection | undefined): boolean {
  return previous !== undefined && counts.nowMs - previous.firstSampledAtMs > HANDSHAKE_LIMIT_MS;
}

/** A busy probe counts as busy, because a client behind the node's address cannot be distinguished from the kubelet. */
function countProbe(counts: ConnectionCounts, socket: TcpSocket): OpenResult {
  if (isOpen(socket.state) && activityOf(socket) === "busy") counts.busy = counts.busy + 1;
  return NOT_WORKING;
}

const NOT_WORKING: OpenResult = { working: false, answered: false };
