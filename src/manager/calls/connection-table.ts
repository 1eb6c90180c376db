/** Limits connections to the manager, so that unauthenticated clients cannot crowd out the kubelet. */
import type { Socket } from "node:net";
import type { NowMs } from "../ports.ts";
import { isLoopbackAddress } from "../sockets/address-text.ts";

type ConnectionTable = {
  /** Over the capacity, unauthenticated connections are closed after their first bytes could be read; new ones are not refused. */
  readonly add: (socket: Socket, address: string) => void;
  /** Call it after a valid request: the connection is no longer limited in time. */
  readonly keep: (socket: Socket) => void;
  /** Call it after the response: the client has a moment to close the connection. */
  readonly release: (socket: Socket) => void;
  /** Connections accepted since the start; a running total. */
  readonly accepted: () => number;
};

const CAPACITY = 256;
/** Until their first bytes could be read. 511 is Node's backlog, the most that one turn of a runtime accepts. */
const HARD_CAPACITY = CAPACITY + 511;
/** The kubelet sends its request right after the handshake. */
const REQUEST_LIMIT_MS = 2_000;
/** Runtimes read sockets between two timers. */
const ONE_TURN_MS = 1;
/** A node has few addresses. */
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
  // After a stall, timers run before waiting bytes are read, so these are read first.
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
  // One timer for all, and none without unauthenticated clients, so that an idle manager sleeps.
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
      // Without a listener, a reset by the client would end the process.
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
  /** Number of newer connections of its address. */
  readonly newer: number;
};

/**
 * The oldest connections of the addresses with the most come first, preferred addresses last. Pure.
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
