/** What is remembered of each connection from look to look; gone when a look no longer shows it. */
import { type Past, START } from "./judge-busy.ts";
import type { TcpSocket } from "./observation.ts";

/** What a connection is to the drain. `own`: between containers of the Pod. `probe`: the kubelet's, not traffic. */
export type Kind = "traffic" | "own" | "probe";

/** Changed in place: a Pod may have thousands, and each look sees them all. */
export type Seen = {
  readonly key: string;
  readonly localAddress: string;
  readonly localPort: number;
  readonly peerAddress: string;
  readonly peerPort: number;
  /** In the order of the look that saw it last. */
  place: number;
  firstSeenMs: number;
  look: number;
  open: boolean;
  working: boolean;
  kind: Kind;
  dataSegmentsReceived: number;
  dataSegmentsSent: number;
  pureAcksSent: number;
  past: Past;
};

export type ConnectionMemory = {
  /** Before the first `find` of every look. */
  readonly begin: () => void;
  readonly find: (socket: TcpSocket) => Seen | undefined;
  /** Remembers a connection that `find` did not know; its facts are the caller's to fill in. */
  readonly enter: (socket: TcpSocket) => Seen;
  /** Once for every connection that a look shows. */
  readonly confirm: (entry: Seen, look: number) => void;
  /** Forgets what look number `look` did not show. @returns what is forgotten */
  readonly forgetGone: (look: number) => readonly Seen[];
};

export function createConnectionMemory(): ConnectionMemory {
  const byKey = new Map<string, Seen>();
  let order: Seen[] = [];
  let lastOrder: Seen[] = [];
  let next = 0;

  return {
    begin: () => {
      lastOrder = order;
      order = [];
      next = 0;
    },
    find: (socket) => {
      // The kernel keeps its order, so a connection nearly always follows the one it followed in the look before.
      const expected = lastOrder[next];
      const found = expected !== undefined && isPair(expected, socket) ? expected : byKey.get(keyOf(socket));
      if (found !== undefined) next = found.place + 1;
      return found;
    },
    enter: (socket) => {
      const entry = newcomer(socket);
      byKey.set(entry.key, entry);
      return entry;
    },
    confirm: (entry, look) => {
      entry.look = look;
      entry.place = order.length;
      order.push(entry);
    },
    forgetGone: (look) => {
      const gone: Seen[] = [];
      for (const entry of lastOrder) if (entry.look !== look) gone.push(entry);
      for (const entry of gone) byKey.delete(entry.key);
      return gone;
    },
  };
}

function isPair(entry: Seen, socket: TcpSocket): boolean {
  return (
    entry.peerPort === socket.peerPort &&
    entry.localPort === socket.localPort &&
    entry.peerAddress === socket.peerAddress &&
    entry.localAddress === socket.localAddress
  );
}

function keyOf(socket: TcpSocket): string {
  return `${socket.localAddress} ${socket.localPort} ${socket.peerAddress} ${socket.peerPort}`;
}

function newcomer(socket: TcpSocket): Seen {
  return {
    key: keyOf(socket),
    localAddress: socket.localAddress,
    localPort: socket.localPort,
    peerAddress: socket.peerAddress,
    peerPort: socket.peerPort,
    place: 0,
    firstSeenMs: 0,
    look: 0,
    open: false,
    working: false,
    kind: "traffic",
    dataSegmentsReceived: -1,
    dataSegmentsSent: -1,
    pureAcksSent: -1,
    past: START,
  };
}
