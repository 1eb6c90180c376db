import { Socket } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConnectionTable, evictionOrder } from "../../src/manager/calls/connection-table.ts";

const CLIENT = "10.0.0.66";
const KUBELET = "10.0.0.1";
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

/** Two turns of the event loop: requests are read in the first, connections are closed in the second. */
function turn(): void {
  vi.advanceTimersByTime(2);
}

/** The clock advances with every reading, which makes the order of arrival unambiguous. */
function admitted(count: number, address = CLIENT) {
  let nowMs = 0;
  const table = createConnectionTable(() => {
    nowMs += 0.001;
    return nowMs;
  });
  const crowd = Array.from({ length: count }, newSocket);
  for (const socket of crowd) table.add(socket, address);
  return { table, crowd };
}

const openCount = (some: readonly Socket[]) => some.filter((socket) => !socket.destroyed).length;

describe("the table of the manager's connections", () => {
  test("keeps 256 unauthenticated connections", () => {
    const { crowd, table } = admitted(256);
    turn();
    expect(openCount(crowd)).toBe(256);
    expect(table.acceptedCount()).toBe(256);
  });

  test("closes the oldest unauthenticated connections beyond 256 after one chance to read their requests", () => {
    const { crowd } = admitted(300);
    expect(openCount(crowd)).toBe(300);
    turn();
    expect(crowd.map((socket) => socket.destroyed)).toEqual(crowd.map((_, index) => index < 44));
  });

  test("keeps a connection whose request has arrived, for any number of new connections", () => {
    const { crowd, table } = admitted(300);
    const first = crowd[0] ?? newSocket();
    table.markAuthenticated(first);
    turn();
    expect(first.destroyed).toBe(false);
    expect(openCount(crowd)).toBe(256);
  });

  test("contains at most 767 connections", () => {
    const { crowd } = admitted(5_000);
    expect(openCount(crowd)).toBe(767);
  });

  test("closes connections of the address with the most connections before older connections of other addresses", () => {
    const { crowd, table } = admitted(10, "10.0.0.7");
    for (let index = 0; index < 1_000; index += 1) {
      table.add(newSocket(), CLIENT);
      if (index % 100 === 0) turn();
    }
    turn();
    expect(openCount(crowd)).toBe(10);
    expect(openCount(sockets)).toBe(256);
  });

  test("closes connections of the Pod itself and of addresses with a valid request last", () => {
    const { crowd, table } = admitted(1, KUBELET);
    const first = crowd[0] ?? newSocket();
    table.markAuthenticated(first);
    const own = newSocket();
    const kubelet = newSocket();
    table.add(own, "127.0.0.1");
    table.add(kubelet, KUBELET);
    for (let index = 0; index < 400; index += 1) table.add(newSocket(), `10.1.${index % 200}.1`);
    turn();
    expect([first, own, kubelet].map((socket) => socket.destroyed)).toEqual([false, false, false]);
    expect(openCount(sockets)).toBe(256);
  });

  test("never closes a connection whose preStop call is unanswered", () => {
    const { crowd, table } = admitted(10);
    const kept = crowd.slice(0, 4);
    for (const socket of kept) table.markAuthenticated(socket);
    for (let index = 0; index < 1_000; index += 1) table.add(newSocket(), CLIENT);
    turn();
    expect(openCount(kept)).toBe(4);
    expect(openCount(sockets)).toBe(256);
  });

  test("accepts a new connection even if every other connection waits for the answer to a preStop call", () => {
    const { crowd, table } = admitted(256);
    for (const socket of crowd) table.markAuthenticated(socket);
    const newcomer = newSocket();
    table.add(newcomer, CLIENT);
    expect(newcomer.destroyed).toBe(false);
    turn();
    expect(openCount(crowd)).toBe(256);
  });

  test("can close a connection after its preStop call was answered", () => {
    const { crowd, table } = admitted(1);
    const answered = crowd[0] ?? newSocket();
    table.markAuthenticated(answered);
    table.release(answered);
    for (let index = 0; index < 256; index += 1) table.add(newSocket(), CLIENT);
    turn();
    expect(answered.destroyed).toBe(true);
  });

  test("removes connections that the client closed", async () => {
    vi.useRealTimers();
    const { crowd, table } = admitted(256);
    const gone = crowd[7] ?? newSocket();
    await new Promise<void>((resolve) => {
      gone.on("close", () => resolve());
      gone.destroy();
    });
    table.add(newSocket(), CLIENT);
    expect(crowd.filter((socket) => socket.destroyed)).toEqual([gone]);
  });
});

describe("the order in which connections are closed", () => {
  const connections = fc.uniqueArray(
    fc.record({ id: fc.nat(1_000), address: fc.constantFrom("a", "b", "c", "d"), sinceMs: fc.nat(50) }),
    { selector: (one) => one.id, maxLength: 60 },
  );
  const isPreferred = (address: string) => address === "a";

  test("has the requested length without duplicates, and lists protected addresses last", () => {
    fc.assert(
      fc.property(connections, fc.nat(70), (all, count) => {
        const leaving = evictionOrder(all, count, isPreferred);
        expect(leaving.length).toBe(Math.min(count, all.length));
        expect(new Set(leaving).size).toBe(leaving.length);
        const staying = all.filter((one) => !leaving.includes(one.id));
        const preferredLeaves = all.some((one) => isPreferred(one.address) && leaving.includes(one.id));
        if (preferredLeaves) expect(staying.filter((one) => !isPreferred(one.address))).toEqual([]);
      }),
    );
  });

  test("starts with the oldest connections of the address with the most connections", () => {
    fc.assert(
      fc.property(connections, fc.nat(70), (all, count) => {
        const leaving = new Set(evictionOrder(all, count, () => false));
        const left = (address: string) => all.filter((one) => one.address === address && !leaving.has(one.id));
        for (const one of all.filter(({ id }) => leaving.has(id))) {
          for (const other of all) expect(left(other.address).length).toBeLessThanOrEqual(left(one.address).length + 1);
          for (const stays of left(one.address)) expect(stays.sinceMs).toBeGreaterThanOrEqual(one.sinceMs);
        }
      }),
    );
  });
});
