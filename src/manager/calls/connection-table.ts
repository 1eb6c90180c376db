/** Limits connections to the manager, so that unauthenticated clients cannot crowd out the kubelet. */
import type { Socket } from "node:net";
import type { NowMs } from "../ports.ts";
import { isLoopbackAddress } from "../sockets/address-text.ts";

type ConnectionTable = {
  /** Never refuses a connection. Above the capacity, the table closes old unauthenticated connections after it has read their bytes. */
  readonly add: (socket: Socket, address: string) => void;
  /** Removes the time limit of a connection. Has to be called after a valid request. */
  readonly markAuthenticated: (socket: Socket) => void;
  /** Restores the time limit, within which the client has to close the connection. Has to be called after the response. */
  readonly release: (socket: Socket) => void;
  /** Number of connections accepted since the start. */
  readonly acceptedCount: () => number;
};

const CAPACITY = 256;
/**
 * Maximum number of connections while the first bytes of new connections are unread. One turn of the event loop accepts at most
 * Node's backlog of 511 connections.
 */
const HARD_CAPACITY = CAPACITY + 511;
/** Enough for the kubelet, which sends its request right after the handshake. */
const REQUEST_TIMEOUT_MS = 2_000;
/** Delay between the timer and the eviction that it starts. During the delay the event loop reads the sockets. */
const ONE_TURN_MS = 1;
/** Larger than the number of addresses of the kubelet's node. */
const KNOWN_ADDRESSES_LIMIT = 8;

type ConnectedClient = {
  readonly id: number;
  readonly socket: Socket;
  readonly address: string;
  readonly isAuthenticated: boolean;
  readonly sinceMs: number;
};

export function createConnectionTable(nowMs: NowMs): ConnectionTable {
  let clients: ConnectedClient[] = [];
  let acceptedCount = 0;
  let timer: NodeJS.Timeout | null = null;
  let isEvictionScheduled = false;
  const knownAddresses = new Set<string>();

  const remove = (id: number): void => {
    clients = clients.filter((client) => client.id !== id);
  };
  const setAuthenticated = (socket: Socket, isAuthenticated: boolean): void => {
    clients = clients.map((client) => {
      if (client.socket !== socket) return client;
      if (isAuthenticated && knownAddresses.size < KNOWN_ADDRESSES_LIMIT) knownAddresses.add(client.address);
      return { id: client.id, socket: client.socket, address: client.address, isAuthenticated, sinceMs: nowMs() };
    });
  };
  const isPreferred = (address: string): boolean => isLoopbackAddress(address) || knownAddresses.has(address);
  const trimTo = (capacity: number): void => {
    if (clients.length <= capacity) return;
    const unauthenticatedClients = clients.filter((client) => !client.isAuthenticated);
    const evictedIds = evictionOrder(unauthenticatedClients, clients.length - capacity, isPreferred);
    for (const id of evictedIds) {
      const client = clients.find((one) => one.id === id);
      remove(id);
      if (client !== undefined) client.socket.destroy();
    }
  };
  // After a stall the event loop runs overdue timers before it reads sockets. The second timer lets it read waiting requests first.
  const readThenEvict = (): void => {
    timer = setTimeout(evictOverdue, ONE_TURN_MS);
  };
  const evictOverdue = (): void => {
    timer = null;
    isEvictionScheduled = false;
    const atMs = nowMs();
    const overdue = clients.filter((client) => !client.isAuthenticated && atMs - client.sinceMs >= REQUEST_TIMEOUT_MS);
    for (const client of overdue) {
      remove(client.id);
      client.socket.destroy();
    }
    trimTo(CAPACITY);
    scheduleEviction();
  };
  // One timer serves all connections. Without unauthenticated connections there is no timer, so an idle manager sleeps.
  const scheduleEviction = (): void => {
    if (timer !== null) return;
    let sinceMs = -1;
    for (const client of clients)
      if (!client.isAuthenticated && (sinceMs < 0 || client.sinceMs < sinceMs)) sinceMs = client.sinceMs;
    if (sinceMs < 0) return;
    timer = setTimeout(readThenEvict, Math.max(1, Math.ceil(sinceMs + REQUEST_TIMEOUT_MS - nowMs())));
  };
  const scheduleEvictionSoon = (): void => {
    if (isEvictionScheduled) return;
    isEvictionScheduled = true;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(readThenEvict, ONE_TURN_MS);
  };

  return {
    add: (socket, address) => {
      acceptedCount = acceptedCount + 1;
      const id = acceptedCount;
      socket.on("close", () => remove(id));
      // Without a listener, a connection reset by the client would end the process.
      socket.on("error", () => remove(id));
      trimTo(HARD_CAPACITY - 1);
      clients.push({ id, socket, address, isAuthenticated: false, sinceMs: nowMs() });
      if (clients.length > CAPACITY) scheduleEvictionSoon();
      else scheduleEviction();
    },
    markAuthenticated: (socket) => setAuthenticated(socket, true),
    release: (socket) => {
      setAuthenticated(socket, false);
      scheduleEviction();
    },
    acceptedCount: () => acceptedCount,
  };
}

type UnauthenticatedClient = { readonly id: number; readonly address: string; readonly sinceMs: number };

type EvictionCandidate = {
  readonly id: number;
  readonly sinceMs: number;
  readonly isPreferred: boolean;
  /** Number of newer connections from the same address. */
  readonly newerCount: number;
};

/**
 * Orders connections for eviction: first the oldest ones of the addresses with the most connections, last those of preferred
 * addresses. Pure.
 *
 * @returns at most `count` ids
 */
export function evictionOrder(
  unauthenticatedClients: readonly UnauthenticatedClient[],
  count: number,
  isPreferred: (address: string) => boolean,
): readonly number[] {
  const newerCountByAddress = new Map<string, number>();
  const candidates: EvictionCandidate[] = [];
  for (const { id, address, sinceMs } of [...unauthenticatedClients].sort(newestFirst)) {
    const newerCount = newerCountByAddress.get(address) ?? 0;
    newerCountByAddress.set(address, newerCount + 1);
    candidates.push({ id, sinceMs, isPreferred: isPreferred(address), newerCount });
  }
  candidates.sort(compareEviction);
  return candidates.slice(0, count).map((one) => one.id);
}

function newestFirst(one: UnauthenticatedClient, other: UnauthenticatedClient): number {
  return one.sinceMs === other.sinceMs ? other.id - one.id : other.sinceMs - one.sinceMs;
}

function compareEviction(one: EvictionCandidate, other: EvictionCandidate): number {
  if (one.isPreferred !== other.isPreferred) return one.isPreferred ? 1 : -1;
  if (one.newerCount !== other.newerCount) return other.newerCount - one.newerCount;
  return one.sinceMs === other.sinceMs ? one.id - other.id : one.sinceMs - other.sinceMs;
}
