/** Remembers the connections of drain ports from look to look; forgets them when the kernel does. */
import type { TcpSocket } from "../sockets/reading.ts";
import { isOpen, SYN_RECV } from "../sockets/tcp-states.ts";
import type { ConnectionMemory, Kind, Seen } from "./judge-memory.ts";
import {
  addCount,
  addEnded,
  addEvidence,
  addOpen,
  addPresent,
  createTally,
  openConnection,
  type Tally,
  type Verdict,
} from "./judge-tally.ts";
import { activityOf, isTied, NO_PAST, type Past, START } from "./quiet.ts";

type Connections = {
  /** A look before that never came to its end has shown some of the sockets: what it found still counts. */
  readonly begin: (nowMs: number) => void;
  /** One socket of a drain port, seen from the server's end. A socket shown twice counts once. */
  readonly see: (socket: TcpSocket, nowMs: number) => void;
  readonly end: (nowMs: number) => Tally;
};

/** A kubelet probe ends at its timeout, which is nearly always below this; what lives longer is a client. */
const PROBE_LIFE_MS = 10_000;

export function createConnections(classify: (socket: TcpSocket) => Kind, memory: ConnectionMemory): Connections {
  let tally = createTally(0, true);
  let ended = true;
  let looked = false;
  /** The look before left connections unfollowed: one that is not remembered may yet be old. */
  let lostBefore = false;

  /** Beyond what can be remembered: its present counts, its past is not known, and its end will not be seen. */
  const seeUnfollowed = (socket: TcpSocket): void => {
    tally.untracked = tally.untracked + 1;
    const kind = classify(socket);
    if (isOpen(socket.state))
      addOpen(tally, socket, { isNew: true, firstSeenMs: tally.nowMs, moved: true, past: NO_PAST });
    else if (socket.state === SYN_RECV && kind !== "own") tally.busy = tally.busy + 1;
  };

  /** Nearly all connections, in a Pod that has many: judged without unpacking what is known of them. */
  const seeStill = (record: number, socket: TcpSocket): boolean => {
    if (!isOpen(socket.state) || !memory.isStill(record, socket)) return false;
    const activity = activityOf(socket);
    if (activity !== "busy" && (activity !== "idle" || isTied(socket))) return false;
    if (addCount(tally, activity)) tally.left.push(openConnection(socket, tally.nowMs - memory.firstSeenMs(record)));
    memory.keepStill(record, activity === "busy");
    return true;
  };

  const follow = (record: number, last: Seen | undefined, socket: TcpSocket): void => {
    const { nowMs } = tally;
    const before = last !== undefined && isSame(last, socket) ? last : undefined;
    const kind = before === undefined ? newKind(tally, socket, classify, lostBefore) : agedKind(before, nowMs);
    const start = lostBefore ? NO_PAST : START;
    const past = before === undefined ? start : pastOf(before, socket);
    const verdict = kind === "probe" ? judgeProbe(tally, socket) : judgeOne(tally, { socket, kind, before, past });
    memory.keep(record, {
      firstSeenMs: before?.firstSeenMs ?? nowMs,
      open: isLive(socket.state),
      working: verdict.working,
      kind,
      dataSegmentsReceived: socket.dataSegmentsReceived,
      dataSegmentsSent: socket.dataSegmentsSent,
      pureAcksSent: socket.pureAcksSent,
      past: verdict.answered ? answeredNow(socket, past) : past,
    });
  };

  return {
    begin: (nowMs) => {
      const before = tally;
      tally = createTally(nowMs, !looked);
      memory.begin(nowMs);
      if (!ended) {
        tally.evidenceMs = before.evidenceMs;
        tally.arrived = before.arrived;
        lostBefore = lostBefore || before.untracked > 0;
      }
      ended = false;
    },
    see: (socket, nowMs) => {
      tally.nowMs = nowMs;
      const found = memory.find(socket);
      if (found >= 0 && memory.isKept(found)) return;
      if (found >= 0 && seeStill(found, socket)) return;
      const record = found >= 0 ? found : memory.enter(socket);
      if (record < 0) {
        seeUnfollowed(socket);
        return;
      }
      follow(record, found >= 0 ? memory.recall(found) : undefined, socket);
    },
    end: (nowMs) => {
      tally.nowMs = nowMs;
      // They were at work in the last look and left no trace of when they ended.
      const endedAtWork = memory.forgetGone() > 0;
      // So may those that are not followed.
      if (tally.atWork || endedAtWork || lostBefore || tally.untracked > 0) addEvidence(tally, 0);
      lostBefore = tally.untracked > 0;
      looked = true;
      ended = true;
      return tally;
    },
  };
}

/** The pair of addresses of an ended connection may be taken again by a new one: its counters begin from the start. */
function isSame(last: Seen, socket: TcpSocket): boolean {
  if (!last.open) return !isLive(socket.state);
  if (last.dataSegmentsSent < 0 || socket.dataSegmentsSent < 0) return true;
  return socket.dataSegmentsSent >= last.dataSegmentsSent && socket.dataSegmentsReceived >= last.dataSegmentsReceived;
}

function isLive(state: number): boolean {
  return isOpen(state) || state === SYN_RECV;
}

function newKind(tally: Tally, socket: TcpSocket, classify: (socket: TcpSocket) => Kind, lostBefore: boolean): Kind {
  // What ended before the first look is no evidence, so it must not use up what the kubelet is allowed.
  if (tally.first && !isLive(socket.state)) return "traffic";
  const kind = classify(socket);
  // It may be an old one: what was learned since must not excuse it, nor may it explain an opened one that no look found.
  if (lostBefore) return "traffic";
  // A handshake under way is not yet in the kernel's count of opened connections.
  if (!tally.first && kind !== "own" && socket.state !== SYN_RECV) tally.arrived = tally.arrived + 1;
  return kind;
}

function agedKind(before: Seen, nowMs: number): Kind {
  return before.kind === "probe" && before.open && nowMs - before.firstSeenMs > PROBE_LIFE_MS ? "traffic" : before.kind;
}

function pastOf(before: Seen, socket: TcpSocket): Past {
  const { past } = before;
  if (socket.dataSegmentsReceived === before.dataSegmentsReceived) return past;
  // Counts that come back may be those of another connection at the same addresses.
  if (socket.dataSegmentsReceived < 0) return NO_PAST;
  return { pureAcksBefore: before.pureAcksSent, answeredIn: past.answeredIn, answeredOut: past.answeredOut };
}

/** Where segments are not counted, every look dates the connection again. */
function hasMoved(before: Seen, socket: TcpSocket): boolean {
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

type Case = {
  readonly socket: TcpSocket;
  readonly kind: Kind;
  readonly before: Seen | undefined;
  readonly past: Past;
};

function judgeOne(tally: Tally, { socket, kind, before, past }: Case): Verdict {
  if (isOpen(socket.state)) {
    const moved = before === undefined || hasMoved(before, socket);
    const isNew = before === undefined && !tally.first;
    return addOpen(tally, socket, { isNew, firstSeenMs: before?.firstSeenMs ?? tally.nowMs, moved, past });
  }
  if (socket.state === SYN_RECV) {
    if (kind === "own" || isStuck(tally, before)) return NO_WORK;
    tally.busy = tally.busy + 1;
    addPresent(tally);
    return NO_WORK;
  }
  const isNew = before === undefined && kind === "traffic" && !tally.first;
  if (isNew || (before?.working ?? false)) addEnded(tally, socket);
  return NO_WORK;
}

/**
 * A handshake takes a round trip, and one lost answer to it is repeated after 1 s, the next after 3 s. A client
 * that has not completed it by then is gone, or never meant to: half-open connections live for a minute.
 */
const HANDSHAKE_LIMIT_MS = 5_000;

function isStuck(tally: Tally, before: Seen | undefined): boolean {
  return before !== undefined && tally.nowMs - before.firstSeenMs > HANDSHAKE_LIMIT_MS;
}

/** No traffic, but a client behind the node's own address looks alike: a peer that waits for an answer gets it. */
function judgeProbe(tally: Tally, socket: TcpSocket): Verdict {
  if (isOpen(socket.state) && activityOf(socket) === "busy") tally.busy = tally.busy + 1;
  return NO_WORK;
}

const NO_WORK: Verdict = { working: false, answered: false };
