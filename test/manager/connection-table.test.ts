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

function newSocket(): Socket {
  const socket = new Socket();
  sockets.push(socket);
  return socket;
}

/** Runs two turns of the event loop: the table reads requests in the first turn and closes connections in the second. */
function runTwoTurns(): void {
  vi.advanceTimersByTime(2);
}

/** Creates a table with `count` connections. Its clock advances with every read, so no two arrival times are equal. */
function tableWithConnections(count: number, address = CLIENT_ADDRESS) {
  let nowMs = 0;
  const table = createConnectionTable(() => {
    nowMs += 0.001;
    return nowMs;
  });
  const connections = Array.from({ length: count }, newSocket);
  for (const socket of connections) table.add(socket, address);
  return { table, connections };
}

const openCount = (some: readonly Socket[]) => some.filter((socket) => !socket.destroyed).length;

describe("the table of the manager's connections", () => {
  test("keeps 256 unauthenticated connections", () => {
    const { connections, table } = tableWithConnections(256);
    runTwoTurns();
    expect(openCount(connections)).toBe(256);
    expect(table.acceptedCount()).toBe(256);
  });

  test("closes the oldest unauthenticated connections beyond 256 after one event loop turn, in which their requests can arrive", () => {
    const { connections } = tableWithConnections(300);
    expect(openCount(connections)).toBe(300);
    runTwoTurns();
    expect(connections.map((socket) => socket.destroyed)).toEqual(connections.map((_, index) => index < 44));
  });

  test("keeps a connection whose request has arrived, for any number of new connections", () => {
    const { connections, table } = tableWithConnections(300);
    const first = connections[0] ?? newSocket();
    table.markAuthenticated(first);
    runTwoTurns();
    expect(first.destroyed).toBe(false);
    expect(openCount(connections)).toBe(256);
  });

  test("contains at most 767 connections", () => {
    const { connections } = tableWithConnections(5_000);
    expect(openCount(connections)).toBe(767);
  });

  test("closes connections of the address with the most connections before older connections of other addresses", () => {
    const { connections, table } = tableWithConnections(10, "10.0.0.7");
    for (let index = 0; index < 1_000; index += 1) {
      table.add(newSocket(), CLIENT_ADDRESS);
      if (index % 100 === 0) runTwoTurns();
    }
    runTwoTurns();
    expect(openCount(connections)).toBe(10);
    expect(openCount(sockets)).toBe(256);
  });

  test("closes connections of the Pod itself and of addresses with a valid request last", () => {
    const { connections, table } = tableWithConnections(1, KUBELET_ADDRESS);
    const first = connections[0] ?? newSocket();
    table.markAuthenticated(first);
    const own = newSocket();
    const kubelet = newSocket();
    table.add(own, "127.0.0.1");
    table.add(kubelet, KUBELET_ADDRESS);
    for (let index = 0; index < 400; index += 1) table.add(newSocket(), `10.1.${index % 200}.1`);
    runTwoTurns();
    expect([first, own, kubelet].map((socket) => socket.destroyed)).toEqual([false, false, false]);
    expect(openCount(sockets)).toBe(256);
  });

  test("does not close a connection whose preStop call is unanswered", () => {
    const { connections, table } = tableWithConnections(10);
    const unanswered = connections.slice(0, 4);
    for (const socket of unanswered) table.markAuthenticated(socket);
    for (let index = 0; index < 1_000; index += 1) table.add(newSocket(), CLIENT_ADDRESS);
    runTwoTurns();
    expect(openCount(unanswered)).toBe(4);
    expect(openCount(sockets)).toBe(256);
  });

  test("accepts a new connection even if every other connection waits for the answer to a preStop call", () => {
    const { connections, table } = tableWithConnections(256);
    for (const socket of connections) table.markAuthenticated(socket);
    const newcomer = newSocket();
    table.add(newcomer, CLIENT_ADDRESS);
    expect(newcomer.destroyed).toBe(false);
    runTwoTurns();
    expect(openCount(connections)).toBe(256);
  });

  test("can close a connection after its preStop call was answered", () => {
    const { connections, table } = tableWithConnections(1);
    const answered = connections[0] ?? newSocket();
    table.markAuthenticated(answered);
    table.release(answered);
    for (let index = 0; index < 256; index += 1) table.add(newSocket(), CLIENT_ADDRESS);
    runTwoTurns();
    expect(answered.destroyed).toBe(true);
  });

  test("removes connections that the client closed", async () => {
    vi.useRealTimers();
    const { connections, table } = tableWithConnections(256);
    const closedByClient = connections[7] ?? newSocket();
    await new Promise<void>((resolve) => {
      closedByClient.on("close", () => resolve());
      closedByClient.destroy();
    });
    table.add(newSocket(), CLIENT_ADDRESS);
    expect(connections.filter((socket) => socket.destroyed)).toEqual([closedByClient]);
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
        const evicted = evictionOrder(all, count, isPreferred);
        expect(evicted.length).toBe(Math.min(count, all.length));
        expect(new Set(evicted).size).toBe(evicted.length);
        const remaining = all.filter((one) => !evicted.includes(one.id));
        const isPreferredEvicted = all.some((one) => isPreferred(one.address) && evicted.includes(one.id));
        if (isPreferredEvicted) expect(remaining.filter((one) => !isPreferred(one.address))).toEqual([]);
      }),
    );
  });

  test("starts with the oldest connections of the address with the most connections", () => {
    fc.assert(
      fc.property(anyConnections, fc.nat(70), (all, count) => {
        const evicted = new Set(evictionOrder(all, count, () => false));
        const left = (address: string) => all.filter((one) => one.address === address && !evicted.has(one.id));
        for (const one of all.filter(({ id }) => evicted.has(id))) {
          for (const candidate of all)
            expect(left(candidate.address).length).toBeLessThanOrEqual(left(one.address).length + 1);
          for (const other of left(one.address)) expect(other.sinceMs).toBeGreaterThanOrEqual(one.sinceMs);
        }
      }),
    );
  });
});
