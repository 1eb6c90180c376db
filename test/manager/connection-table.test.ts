import { Socket } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConnectionTable, evictionOrder } from "../../src/manager/calls/connection-table.ts";

const CLIENT_ADDRESS = "10.0.0.66";
const KUBELET_ADDRESS = "10.0.0.1";
let sockets: Socket[] = [];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

function createSocket(): Socket {
  const socket = new Socket();
  sockets.push(socket);
  return socket;
}

/** Runs two turns of the event loop: the table reads requests in the first turn and closes connections in the second. */
function runTwoTurns(): void {
  vi.advanceTimersByTime(2);
}

/** Creates a table with `count` connections. Its clock advances with every read, so all arrival times differ. */
function createFilledTable(count: number, address = CLIENT_ADDRESS) {
  let nowMs = 0;
  const table = createConnectionTable(() => {
    nowMs += 0.001;
    return nowMs;
  });
  const connections = Array.from({ length: count }, createSocket);
  for (const socket of connections) table.add(socket, address);
  return { table, connections };
}

const countOpen = (some: readonly Socket[]) => some.filter((socket) => !socket.destroyed).length;

describe("the table of the manager's connections", () => {
  test("keeps 256 unauthenticated connections", () => {
    const { connections, table } = createFilledTable(256);
    runTwoTurns();
    expect(countOpen(connections)).toBe(256);
    expect(table.acceptedCount()).toBe(256);
  });

  test("closes the oldest unauthenticated connections beyond 256 after one event loop turn, in which their requests can arrive", () => {
    const { connections } = createFilledTable(300);
    expect(countOpen(connections)).toBe(300);
    runTwoTurns();
    expect(connections.map((socket) => socket.destroyed)).toEqual(connections.map((_, index) => index < 44));
  });

  test("keeps a connection whose request has arrived, for any number of new connections", () => {
    const { connections, table } = createFilledTable(300);
    const firstConnection = connections[0] ?? createSocket();
    table.markAuthenticated(firstConnection);
    runTwoTurns();
    expect(firstConnection.destroyed).toBe(false);
    expect(countOpen(connections)).toBe(256);
  });

  test("contains at most 767 connections", () => {
    const { connections } = createFilledTable(5_000);
    expect(countOpen(connections)).toBe(767);
  });

  test("closes connections of the address with the most connections before older connections of other addresses", () => {
    const { connections, table } = createFilledTable(10, "10.0.0.7");
    for (let index = 0; index < 1_000; index += 1) {
      table.add(createSocket(), CLIENT_ADDRESS);
      if (index % 100 === 0) runTwoTurns();
    }
    runTwoTurns();
    expect(countOpen(connections)).toBe(10);
    expect(countOpen(sockets)).toBe(256);
  });

  test("closes connections of the Pod itself and of addresses with a valid request last", () => {
    const { connections, table } = createFilledTable(1, KUBELET_ADDRESS);
    const firstConnection = connections[0] ?? createSocket();
    table.markAuthenticated(firstConnection);
    const ownConnection = createSocket();
    const kubeletConnection = createSocket();
    table.add(ownConnection, "127.0.0.1");
    table.add(kubeletConnection, KUBELET_ADDRESS);
    for (let index = 0; index < 400; index += 1) table.add(createSocket(), `10.1.${index % 200}.1`);
    runTwoTurns();
    expect([firstConnection, ownConnection, kubeletConnection].map((socket) => socket.destroyed)).toEqual([
      false,
      false,
      false,
    ]);
    expect(countOpen(sockets)).toBe(256);
  });

  test("does not close a connection whose preStop call is unanswered", () => {
    const { connections, table } = createFilledTable(10);
    const unansweredConnections = connections.slice(0, 4);
    for (const socket of unansweredConnections) table.markAuthenticated(socket);
    for (let index = 0; index < 1_000; index += 1) table.add(createSocket(), CLIENT_ADDRESS);
    runTwoTurns();
    expect(countOpen(unansweredConnections)).toBe(4);
    expect(countOpen(sockets)).toBe(256);
  });

  test("accepts a new connection even if every other connection waits for the answer to a preStop call", () => {
    const { connections, table } = createFilledTable(256);
    for (const socket of connections) table.markAuthenticated(socket);
    const newConnection = createSocket();
    table.add(newConnection, CLIENT_ADDRESS);
    expect(newConnection.destroyed).toBe(false);
    runTwoTurns();
    expect(countOpen(connections)).toBe(256);
  });

  test("can close a connection after its preStop call was answered", () => {
    const { connections, table } = createFilledTable(1);
    const answeredConnection = connections[0] ?? createSocket();
    table.markAuthenticated(answeredConnection);
    table.release(answeredConnection);
    for (let index = 0; index < 256; index += 1) table.add(createSocket(), CLIENT_ADDRESS);
    runTwoTurns();
    expect(answeredConnection.destroyed).toBe(true);
  });

  test("removes connections that the client closed", async () => {
    vi.useRealTimers();
    const { connections, table } = createFilledTable(256);
    const closedConnection = connections[7] ?? createSocket();
    await new Promise<void>((resolve) => {
      closedConnection.on("close", () => resolve());
      closedConnection.destroy();
    });
    table.add(createSocket(), CLIENT_ADDRESS);
    expect(connections.filter((socket) => socket.destroyed)).toEqual([closedConnection]);
  });
});

describe("the order in which connections are closed", () => {
  const anyConnections = fc.uniqueArray(
    fc.record({ id: fc.nat(1_000), address: fc.constantFrom("a", "b", "c", "d"), sinceMs: fc.nat(50) }),
    { selector: (one) => one.id, maxLength: 60 },
  );
  const isPreferred = (address: string) => address === "a";

  test("contains the requested number of connections without duplicates, those of protected addresses last", () => {
    fc.assert(
      fc.property(anyConnections, fc.nat(70), (all, count) => {
        const evictedIds = evictionOrder(all, count, isPreferred);
        expect(evictedIds.length).toBe(Math.min(count, all.length));
        expect(new Set(evictedIds).size).toBe(evictedIds.length);
        const remaining = all.filter((one) => !evictedIds.includes(one.id));
        const isPreferredEvicted = all.some((one) => isPreferred(one.address) && evictedIds.includes(one.id));
        if (isPreferredEvicted) expect(remaining.filter((one) => !isPreferred(one.address))).toEqual([]);
      }),
    );
  });

  test("starts with the oldest connections of the address with the most connections", () => {
    fc.assert(
      fc.property(anyConnections, fc.nat(70), (all, count) => {
        const evictedIds = new Set(evictionOrder(all, count, () => false));
        const remainingOf = (address: string) =>
          all.filter((one) => one.address === address && !evictedIds.has(one.id));
        for (const one of all.filter(({ id }) => evictedIds.has(id))) {
          for (const candidate of all)
            expect(remainingOf(candidate.address).length).toBeLessThanOrEqual(remainingOf(one.address).length + 1);
          for (const other of remainingOf(one.address)) expect(other.sinceMs).toBeGreaterThanOrEqual(one.sinceMs);
        }
      }),
    );
  });
});
