/** Remembers the connections of drain ports from look to look; forgets them when the kernel does. */

import { isOpen, SYN_RECV } from "../sockets/tcp-states.ts";
import { type Past, START, workOf } from "./judge-busy.ts";
import { createConnectionMemory, type Kind, type Seen } from "./judge-memory.ts";
import { addEnded, addEvidence, addOpen, createTally, type Tally, type Verdict } from "./judge-tally.ts";
import type { TcpSocket } from "./observation.ts";

export type Connections = {
  readonly begin: (nowMs: number) => void;
  /** One socket of a drain port, seen from the server's end. A socket shown twice counts once. */
  readonly see: (socket: TcpSocket, classify: (socket: TcpSocket) => Kind) => void;
  readonly end: () => Tally;
};

/** A kubelet probe ends at its timeout, which is nearly always below this; what lives longer is a client. */
const PROBE_LIFE_MS = 10_000;

export function createConnections(): Connections {
  const memory = createConnectionMemory();
  let look = 0;
  let tally = createTally(0, true);

  return {
    begin: (nowMs) => {
      look = look + 1;
      memory.begin();
      tally = createTally(nowMs, look === 1);
    },
    see: (socket, classify) => {
      const last = memory.find(socket);
      if (last !== undefined && last.look === look) return;
      const before = last !== undefined && isSame(last, socket) ? last : undefined;
      const firstSeenMs = before?.firstSeenMs ?? tally.nowMs;
      const kind = before === undefined ? newKind(tally, socket, classify) : agedKind(before, tally.nowMs);
      const past = before === undefined ? START : pastOf(before, socket);
      const verdict = kind === "probe" ? judgeProbe(tally, socket) : judgeOne(tally, { socket, kind, before, past });
      const entry = last ?? memory.enter(socket);
      entry.firstSeenMs = firstSeenMs;
      entry.kind = kind;
      takeIn(entry, socket, verdict, past);
      memory.confirm(entry, look);
    },
    end: () => {
      // It was at work in the last look and left no trace of when it ended.
      for (const entry of memory.forgetGone(look)) if (entry.working) addEvidence(tally, 0);
      return tally;
    },
  };
}

function takeIn(entry: Seen, socket: TcpSocket, verdict: Verdict, past: Past): void {
  entry.open = isLive(socket.state);
  entry.working = verdict.working;
  entry.dataSegmentsReceived = socket.dataSegmentsReceived;
  entry.dataSegmentsSent = socket.dataSegmentsSent;
  entry.pureAcksSent = socket.pureAcksSent;
  entry.past = verdict.answered ? answeredNow(socket, past) : past;
}

/** The pair of addresses of an ended connection may be taken again by a new one. */
function isSame(last: Seen, socket: TcpSocket): boolean {
  return last.open || !isLive(socket.state);
}

function isLive(state: number): boolean {
  return isOpen(state) || state === SYN_RECV;
}

function newKind(tally: Tally, socket: TcpSocket, classify: (socket: TcpSocket) => Kind): Kind {
  // What ended before the first look is no evidence, so it must not use up what the kubelet is allowed.
  if (tally.first && !isLive(socket.state)) return "traffic";
  const kind = classify(socket);
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
  return { pureAcksBefore: before.pureAcksSent, answeredIn: past.answeredIn, answeredOut: past.answeredOut };
}

/** Where segments are not counted, every look dates anew. */
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
    const firstSeenMs = before?.firstSeenMs ?? tally.nowMs;
    return addOpen(tally, socket, { firstSeenMs, moved: before === undefined || hasMoved(before, socket), past });
  }
  if (socket.state === SYN_RECV) {
    if (kind === "own" || isStuck(tally, before)) return NO_WORK;
    tally.busy = tally.busy + 1;
    addEvidence(tally, 0);
    return NO_WORK;
  }
  const isNew = before === undefined && kind === "traffic" && !tally.first;
  if (isNew || (before?.working ?? false)) addEnded(tally, socket);
  return NO_WORK;
}

/**
 * A handshake takes a round trip, and one lost answer to it is repeated after 1 s, the next after 3 s. Whoever has not
 * completed it by then is gone, or never meant to: half-open connections live for a minute.
 */
const HANDSHAKE_LIMIT_MS = 5_000;

function isStuck(tally: Tally, before: Seen | undefined): boolean {
  return before !== undefined && tally.nowMs - before.firstSeenMs > HANDSHAKE_LIMIT_MS;
}

/** No traffic, but a client behind the node's own address looks alike: whoever waits for an answer gets it. */
function judgeProbe(tally: Tally, socket: TcpSocket): Verdict {
  if (isOpen(socket.state) && workOf(socket) === "busy") tally.busy = tally.busy + 1;
  return NO_WORK;
}

const NO_WORK: Verdict = { working: false, answered: false };
