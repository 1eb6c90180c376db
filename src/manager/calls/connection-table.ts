/** Limits connections to the manager, so that unauthenticated clients cannot crowd out the kubelet. */
import type { Socket } from "node:net";
import type { NowMs } from "../ports.ts";
import { isLoopbackAddress } from "../sockets/address-text.ts";

type ConnectionTable = {
  /** Never refuses a connection. Above the capacity, the table closes old unauthenticated connections once their bytes were read. */
  readonly add: (socket: Socket, address: string) => void;
  /** Removes the time limit of a connection. Has to be called after a valid request. */
  readonly keep: (socket: Socket) => void;
  /** Restores the time limit, within which the client has to close the connection. Has to be called after the response. */
  readonly release: (socket: Socket) => void;
  /** Number of connections accepted since the start. */
  readonly accepted: () => number;
};

const CAPACITY = 256;
/** Limit before the first bytes of new connections are read. One event-loop turn accepts at most Node's backlog of 511. */
const HARD_CAPACITY = CAPACITY + 511;
/** Enough for the kubelet, which sends its request right after the handshake. */
const REQUEST_LIMIT_MS = 2_000;
/** Between two timers the event loop reads the sockets. */
const ONE_TURN_MS = 1;
/** The kubelet's node has fewer addresses. */
const KNOWN_ADDRESSES_LIMIT = 8;

type ConnectedClient = {
  readonly id: number;
  readonly socket: Socket;
  readonly address: string;
  readonly kept: boolean;
  readonly sinceMs: number;
};

export function createConnectionTable(nowMs: NowMs): ConnectionTable {
  let clients: ConnectedClient[] = [];
  let accepted = 0;
  let timer: NodeJS.Timeout | null = null;
  let isEvicting = false;
  const known = new Set<string>();

  const drop = (id: number): void => {
    clients = clients.filter((client) => client.id !== id);
  };
  const change = (socket: Socket, kept: boolean): void => {
    clients = clients.map((client) => {
      if (client.socket !== socket) return client;
      if (kept && known.size < KNOWN_ADDRESSES_LIMIT) known.add(client.address);
      return { id: client.id, socket: client.socket, address: client.address, kept, sinceMs: nowMs() };
    });
  };
  const isPreferred = (address: string): boolean => isLoopbackAddress(address) || known.has(address);
  const trimTo = (capacity: number): void => {
    if (clients.length <= capacity) return;
    const unauthenticated = clients.filter((client) => !client.kept);
    const leaving = evictionOrder(unauthenticated, clients.length - capacity, isPreferred);
    for (const id of leaving) {
      const client = clients.find((one) => one.id === id);
      drop(id);
      if (client !== undefined) client.socket.destroy();
    }
  };
  // After a stall the event loop runs overdue timers before it reads sockets. The extra timer lets it read waiting requests first.
  const readThenEvict = (): void => {
    timer = setTimeout(evictOverdue, ONE_TURN_MS);
  };
  const evictOverdue = (): void => {
    timer = null;
    isEvicting = false;
    const now = nowMs();
    const overdue = clients.filter((client) => !client.kept && now - client.sinceMs >= REQUEST_LIMIT_MS);
    for (const client of overdue) {
      drop(client.id);
      client.socket.destroy();
    }
    trimTo(CAPACITY);
    plan();
  };
  // One timer serves all connections. Without unauthenticated connections there is no timer, so an idle manager sleeps.
  const plan = (): void => {
    if (timer !== null) return;
    let sinceMs = -1;
    for (const client of clients)
      if (!client.kept && (sinceMs < 0 || client.sinceMs < sinceMs)) sinceMs = client.sinceMs;
    if (sinceMs < 0) return;
    timer = setTimeout(readThenEvict, Math.max(1, Math.ceil(sinceMs + REQUEST_LIMIT_MS - nowMs())));
  };
  const evictSoon = (): void => {
    if (isEvicting) return;
    isEvicting = true;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(readThenEvict, ONE_TURN_MS);
  };

  return {
    add: (socket, address) => {
      accepted = accepted + 1;
      const id = accepted;
      socket.on("close", () => drop(id));
      // Without a listener, a connection reset by the client would end the process.
      socket.on("error", () => drop(id));
      trimTo(HARD_CAPACITY - 1);
      clients.push({ id, socket, address, kept: false, sinceMs: nowMs() });
      if (clients.length > CAPACITY) evictSoon();
      else plan();
    },
    keep: (socket) => change(socket, true),
    release: (socket) => {
      change(socket, false);
      plan();
    },
    accepted: () => accepted,
  };
}

type UnauthenticatedClient = { readonly id: number; readonly address: string; readonly sinceMs: number };

type Ranked = {
  readonly id: number;
  readonly sinceMs: number;
  readonly preferred: boolean;
  /** Number of newer connections from the same address. */
  readonly newer: number;
};

/**
 * Orders connections for eviction: first the oldest ones of the addresses with the most connections, last those of preferred
 * addresses. Pure.
 *
 * @returns at most `count` ids
 */
export function evictionOrder(
  unauthenticated: readonly UnauthenticatedClient[],
  count: number,
  isPreferred: (address: string) => boolean,
): readonly number[] {
  const seen = new Map<string, number>();
  const ranked: Ranked[] = [];
  for (const { id, address, sinceMs } of [...unauthenticated].sort(newestFirst)) {
    const newer = seen.get(address) ?? 0;
    seen.set(address, newer + 1);
    ranked.push({ id, sinceMs, preferred: isPreferred(address), newer });
  }
  ranked.sort(compareEviction);
  return ranked.slice(0, count).map((one) => one.id);
}

function newestFirst(one: UnauthenticatedClient, other: UnauthenticatedClient): number {
  return one.sinceMs === other.sinceMs ? other.id - one.id : other.sinceMs - one.sinceMs;
}

function compareEviction(one: Ranked, other: Ranked): number {
  if (one.preferred !== other.preferred) return one.preferred ? 1 : -1;
  if (one.newer !== other.newer) return other.newer - one.newer;
  return one.sinceMs === other.sinceMs ? one.id - other.id : one.sinceMs - other.sinceMs;
}
