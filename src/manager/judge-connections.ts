/** Remembers the connections of drain ports from look to look; forgets them when the kernel does. */
import { addEnded, addEvidence, addOpen, createTally, type Tally } from "./judge-tally.ts";
import type { TcpSocket } from "./observation.ts";
import { isOpen, SYN_RECV } from "./tcp-states.ts";

/** What a connection is to the drain. `own`: between containers of the Pod. `probe`: the kubelet's, not traffic. */
export type Kind = "traffic" | "own" | "probe";

export type Connections = {
  readonly begin: (nowMs: number) => void;
  /** One socket of a drain port, seen from the server's end. A socket shown twice counts once. */
  readonly see: (socket: TcpSocket, classify: (socket: TcpSocket) => Kind) => void;
  readonly end: () => Tally;
};

type Seen = {
  readonly firstSeenMs: number;
  readonly look: number;
  readonly open: boolean;
  readonly working: boolean;
  readonly kind: Kind;
  readonly dataSegmentsReceived: number;
  readonly pureAcksSent: number;
  /** As it was in the last look before the newest data came. */
  readonly pureAcksBefore: number;
};

/** A kubelet probe ends at its timeout, which is nearly always below this; what lives longer is a client. */
const PROBE_LIFE_MS = 10_000;

export function createConnections(): Connections {
  const seen = new Map<string, Seen>();
  let look = 0;
  let tally = createTally(0, true);

  return {
    begin: (nowMs) => {
      look = look + 1;
      tally = createTally(nowMs, look === 1);
    },
    see: (socket, classify) => {
      const key = `${socket.localAddress} ${socket.localPort} ${socket.peerAddress} ${socket.peerPort}`;
      const last = seen.get(key);
      if (last !== undefined && last.look === look) return;
      const before = last !== undefined && isSame(last, socket) ? last : undefined;
      const firstSeenMs = before?.firstSeenMs ?? tally.nowMs;
      const kind = before === undefined ? classify(socket) : agedKind(before, tally.nowMs);
      const open = isLive(socket.state);
      if (before === undefined) countArrival(tally, socket, kind);
      const pureAcksBefore = acksBefore(before, socket);
      const working = kind === "probe" ? false : judgeOne(tally, { socket, kind, before, pureAcksBefore });
      const { dataSegmentsReceived, pureAcksSent } = socket;
      seen.set(key, { firstSeenMs, look, open, working, kind, dataSegmentsReceived, pureAcksSent, pureAcksBefore });
    },
    end: () => {
      const gone: string[] = [];
      for (const [key, entry] of seen) {
        if (entry.look === look) continue;
        // It was at work in the last look and left no trace of when it ended.
        if (entry.working) addEvidence(tally, 0);
        gone.push(key);
      }
      for (const key of gone) seen.delete(key);
      return tally;
    },
  };
}

/** The pair of addresses of an ended connection may be taken again by a new one. */
function isSame(last: Seen, socket: TcpSocket): boolean {
  return last.open || !isLive(socket.state);
}

function isLive(state: number): boolean {
  return isOpen(state) || state === SYN_RECV;
}

/** A handshake under way is not yet in the kernel's count of opened connections. */
function countArrival(tally: Tally, socket: TcpSocket, kind: Kind): void {
  if (!tally.first && kind !== "own" && socket.state !== SYN_RECV) tally.arrived = tally.arrived + 1;
}

function agedKind(before: Seen, nowMs: number): Kind {
  return before.kind === "probe" && before.open && nowMs - before.firstSeenMs > PROBE_LIFE_MS ? "traffic" : before.kind;
}

function acksBefore(before: Seen | undefined, socket: TcpSocket): number {
  if (before === undefined) return 0;
  return socket.dataSegmentsReceived === before.dataSegmentsReceived ? before.pureAcksBefore : before.pureAcksSent;
}

type Case = {
  readonly socket: TcpSocket;
  readonly kind: Kind;
  readonly before: Seen | undefined;
  readonly pureAcksBefore: number;
};

/** @returns whether the connection is at work */
function judgeOne(tally: Tally, { socket, kind, before, pureAcksBefore }: Case): boolean {
  if (isOpen(socket.state)) {
    return addOpen(tally, socket, { firstSeenMs: before?.firstSeenMs ?? tally.nowMs, pureAcksBefore });
  }
  if (socket.state === SYN_RECV) {
    if (kind === "own") return false;
    tally.busy = tally.busy + 1;
    addEvidence(tally, 0);
    return false;
  }
  const isNew = before === undefined && kind === "traffic" && !tally.first;
  if (isNew || (before?.working ?? false)) addEnded(tally, socket);
  return false;
}
