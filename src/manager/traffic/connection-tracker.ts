/** Tracks connections of drain ports from sample to sample, until the kernel drops them. */
import type { TcpSocket } from "../sockets/reading.ts";
import { isOpen, SYN_RECV } from "../sockets/tcp-states.ts";
import {
  addCount,
  addEnded,
  addEvidence,
  addOpen,
  addPresent,
  type ConnectionCounts,
  createCounts,
  type OpenResult,
  openConnection,
} from "./connection-counts.ts";
import type { ConnectionMemory, Kind, TrackedConnection } from "./connection-memory.ts";
import { activityOf, isAmbiguous, NO_PAST, type Past, START } from "./quiet.ts";

type ConnectionTracker = {
  readonly startSample: (nowMs: number) => void;
  /** One socket of a drain port, from the server's end. Duplicates count once. */
  readonly add: (socket: TcpSocket, nowMs: number) => void;
  readonly finishSample: (nowMs: number) => ConnectionCounts;
};

/** Above nearly all probe timeouts; a longer connection is traffic. */
const PROBE_LIFE_MS = 10_000;

export function createConnectionTracker(
  classify: (socket: TcpSocket) => Kind,
  memory: ConnectionMemory,
): ConnectionTracker {
  let counts = createCounts(0, true);
  let ended = true;
  let hasSample = false;
  /** The last sample had untracked connections, so a connection without a record may be old. */
  let hadUntracked = false;

  /** Counts a connection beyond the limit by its current state only; its end will be missed. */
  const addUntracked = (socket: TcpSocket): void => {
    counts.untracked = counts.untracked + 1;
    const kind = classify(socket);
    if (isOpen(socket.state))
      addOpen(counts, socket, { isNew: true, firstSeenMs: counts.nowMs, moved: true, past: NO_PAST });
    else if (socket.state === SYN_RECV && kind !== "own") counts.busy = counts.busy + 1;
  };

  /** Fast path for unchanged connections, which does not load the record. */
  const addUnchanged = (record: number, socket: TcpSocket): boolean => {
    if (!isOpen(socket.state) || !memory.isUnchanged(record, socket)) return false;
    const activity = activityOf(socket);
    if (activity !== "busy" && (activity !== "idle" || isAmbiguous(socket))) return false;
    if (addCount(counts, activity)) counts.left.push(openConnection(socket, counts.nowMs - memory.firstSeenMs(record)));
    memory.storeUnchanged(record, activity === "busy");
    return true;
  };

  const track = (record: number, last: TrackedConnection | undefined, socket: TcpSocket): void => {
    const { nowMs } = counts;
    const before = last !== undefined && isSame(last, socket) ? last : undefined;
    const kind = before === undefined ? newKind(counts, socket, classify, hadUntracked) : agedKind(before, nowMs);
    const start = hadUntracked ? NO_PAST : START;
    const past = before === undefined ? start : pastOf(before, socket);
    const result =
      kind === "probe" ? countProbe(counts, socket) : countConnection(counts, { socket, kind, before, past });
    memory.store(record, {
      firstSeenMs: before?.firstSeenMs ?? nowMs,
      open: isLive(socket.state),
      working: result.working,
      kind,
      dataSegmentsReceived: socket.dataSegmentsReceived,
      dataSegmentsSent: socket.dataSegmentsSent,
      pureAcksSent: socket.pureAcksSent,
      past: result.answered ? answeredNow(socket, past) : past,
    });
  };

  return {
    startSample: (nowMs) => {
      const before = counts;
      counts = createCounts(nowMs, !hasSample);
      memory.startSample(nowMs);
      if (!ended) {
        counts.evidenceMs = before.evidenceMs;
        counts.arrived = before.arrived;
        hadUntracked = hadUntracked || before.untracked > 0;
      }
      ended = false;
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
      // Working connections that ended since the last sample without a trace. Untracked ones may have too.
      const endedAtWork = memory.dropMissing() > 0;
      if (counts.atWork || endedAtWork || hadUntracked || counts.untracked > 0) addEvidence(counts, 0);
      hadUntracked = counts.untracked > 0;
      hasSample = true;
      ended = true;
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
  classify: (socket: TcpSocket) => Kind,
  hadUntracked: boolean,
): Kind {
  if (counts.first && !isLive(socket.state)) return "traffic";
  const kind = classify(socket);
  // It may be an old connection, so it is neither a probe nor an arrival.
  if (hadUntracked) return "traffic";
  // A handshake in progress is not in the kernel's counter yet.
  if (!counts.first && kind !== "own" && socket.state !== SYN_RECV) counts.arrived = counts.arrived + 1;
  return kind;
}

function agedKind(before: TrackedConnection, nowMs: number): Kind {
  return before.kind === "probe" && before.open && nowMs - before.firstSeenMs > PROBE_LIFE_MS ? "traffic" : before.kind;
}

function pastOf(before: TrackedConnection, socket: TcpSocket): Past {
  const { past } = before;
  if (socket.dataSegmentsReceived === before.dataSegmentsReceived) return past;
  // Counters that reappear may belong to another connection with the same addresses.
  if (socket.dataSegmentsReceived < 0) return NO_PAST;
  return { pureAcksBefore: before.pureAcksSent, answeredIn: past.answeredIn, answeredOut: past.answeredOut };
}

/** Always true without counters of segments. */
function hasMoved(before: TrackedConnection, socket: TcpSocket): boolean {
  if (before.kind === "probe" || socket.dataSegmentsSent < 0) return true;
  return (
    socket.dataSegmentsReceived !== before.dataSegmentsReceived || socket.dataSegmentsSent !== before.dataSegmentsSent
  );
}

function answeredNow(socket: TcpSocket, past: Past): Past {
  return {
    pureAcksBefore: past.pureAcksBefore,
    answeredIn: socket.dataSegmentsReceived,
    answeredOut: socket.dataSegmentsSent,
  };
}

type Tracked = {
  readonly socket: TcpSocket;
  readonly kind: Kind;
  readonly before: TrackedConnection | undefined;
  readonly past: Past;
};

function countConnection(counts: ConnectionCounts, { socket, kind, before, past }: Tracked): OpenResult {
  if (isOpen(socket.state)) {
    const moved = before === undefined || hasMoved(before, socket);
    const isNew = before === undefined && !counts.first;
    return addOpen(counts, socket, { isNew, firstSeenMs: before?.firstSeenMs ?? counts.nowMs, moved, past });
  }
  if (socket.state === SYN_RECV) {
    if (kind === "own" || isHandshakeOverdue(counts, before)) return NO_WORK;
    counts.busy = counts.busy + 1;
    addPresent(counts);
    return NO_WORK;
  }
  const isNew = before === undefined && kind === "traffic" && !counts.first;
  if (isNew || (before?.working ?? false)) addEnded(counts, socket);
  return NO_WORK;
}

/** Covers SYN-ACK retransmissions after 1 s and 3 s. Half-open ones of absent or hostile clients last a minute. */
const HANDSHAKE_LIMIT_MS = 5_000;

function isHandshakeOverdue(counts: ConnectionCounts, before: TrackedConnection | undefined): boolean {
  return before !== undefined && counts.nowMs - before.firstSeenMs > HANDSHAKE_LIMIT_MS;
}

/** Probes are not traffic, but clients behind the node's address cannot be distinguished, so a busy one still counts. */
function countProbe(counts: ConnectionCounts, socket: TcpSocket): OpenResult {
  if (isOpen(socket.state) && activityOf(socket) === "busy") counts.busy = counts.busy + 1;
  return NO_WORK;
}

const NO_WORK: OpenResult = { working: false, answered: false };
