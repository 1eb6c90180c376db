import { Socket } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConnectionTable, evictionOrder } from "../../src/manager/calls/connection-table.ts";

const STRANGER = "10.0.0.66";
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

/** Two turns of the loop: the first in which callers are heard, the second in which some leave. */
function turn(): void {
  vi.advanceTimersByTime(2);
}

/** Time moves by a little with every question, so that the order of arrival is plain. */
function admitted(count: number, address = STRANGER) {
  let nowMs = 0;
  const table = createConnectionTable(() => {
    nowMs += 0.001;
    return nowMs;
  });
  const crowd = Array.from({ length: count }, newSocket);
  for (const socket of crowd) table.add(socket, address);
  return { table, crowd };
}

const standing = (some: readonly Socket[]) => some.filter((socket) => !socket.destroyed).length;

describe("the connection table", () => {
  test("takes 256 strangers without closing one", () => {
    const { crowd, table } = admitted(256);
    turn();
    expect(standing(crowd)).toBe(256);
    expect(table.accepted()).toBe(256);
  });

  test("closes the oldest strangers for newcomers, once they could be heard", () => {
    const { crowd } = admitted(300);
    expect(standing(crowd)).toBe(300);
    turn();
    expect(crowd.map((socket) => socket.destroyed)).toEqual(crowd.map((_, index) => index < 44));
  });

  test("hears a caller whose request is there, however many came with it", () => {
    const { crowd, table } = admitted(300);
    const first = crowd[0] ?? newSocket();
    table.keep(first);
    turn();
    expect(first.destroyed).toBe(false);
    expect(standing(crowd)).toBe(256);
  });

  test("has never more than 767 connections, heard or not", () => {
    const { crowd } = admitted(5_000);
    expect(standing(crowd)).toBe(767);
  });

  test("closes connections of the address that holds most, and not the older ones of others", () => {
    const { crowd, table } = admitted(10, "10.0.0.7");
    for (let index = 0; index < 1_000; index += 1) {
      table.add(newSocket(), STRANGER);
      if (index % 100 === 0) turn();
    }
    turn();
    expect(standing(crowd)).toBe(10);
    expect(standing(sockets)).toBe(256);
  });

  test("closes connections of the Pod itself and of addresses that sent a valid request last", () => {
    const { crowd, table } = admitted(1, KUBELET);
    const first = crowd[0] ?? newSocket();
    table.keep(first);
    const own = newSocket();
    const kubelet = newSocket();
    table.add(own, "127.0.0.1");
    table.add(kubelet, KUBELET);
    for (let index = 0; index < 400; index += 1) table.add(newSocket(), `10.1.${index % 200}.1`);
    turn();
    expect([first, own, kubelet].map((socket) => socket.destroyed)).toEqual([false, false, false]);
    expect(standing(sockets)).toBe(256);
  });

  test("never closes a connection that holds a hook", () => {
    const { crowd, table } = admitted(10);
    const kept = crowd.slice(0, 4);
    for (const socket of kept) table.keep(socket);
    for (let index = 0; index < 1_000; index += 1) table.add(newSocket(), STRANGER);
    turn();
    expect(standing(kept)).toBe(4);
    expect(standing(sockets)).toBe(256);
  });

  test("takes newcomers even when every place holds a hook", () => {
    const { crowd, table } = admitted(256);
    for (const socket of crowd) table.keep(socket);
    const newcomer = newSocket();
    table.add(newcomer, STRANGER);
    expect(newcomer.destroyed).toBe(false);
    turn();
    expect(standing(crowd)).toBe(256);
  });

  test("treats a connection whose hook was answered as a stranger again", () => {
    const { crowd, table } = admitted(1);
    const answered = crowd[0] ?? newSocket();
    table.keep(answered);
    table.release(answered);
    for (let index = 0; index < 256; index += 1) table.add(newSocket(), STRANGER);
    turn();
    expect(answered.destroyed).toBe(true);
  });

  test("forgets connections that went by themselves", async () => {
    vi.useRealTimers();
    const { crowd, table } = admitted(256);
    const gone = crowd[7] ?? newSocket();
    await new Promise<void>((resolve) => {
      gone.on("close", () => resolve());
      gone.destroy();
    });
    table.add(newSocket(), STRANGER);
    expect(crowd.filter((socket) => socket.destroyed)).toEqual([gone]);
  });
});

describe("who goes first", () => {
  const strangers = fc.uniqueArray(
    fc.record({ id: fc.nat(1_000), address: fc.constantFrom("a", "b", "c", "d"), sinceMs: fc.nat(50) }),
    { selector: (one) => one.id, maxLength: 60 },
  );
  const isFavoured = (address: string) => address === "a";

  test("is as many as wanted, each once, and favoured ones only after all others", () => {
    fc.assert(
      fc.property(strangers, fc.nat(70), (all, count) => {
        const leaving = evictionOrder(all, count, isFavoured);
        expect(leaving.length).toBe(Math.min(count, all.length));
        expect(new Set(leaving).size).toBe(leaving.length);
        const staying = all.filter((one) => !leaving.includes(one.id));
        const favouredLeaves = all.some((one) => isFavoured(one.address) && leaving.includes(one.id));
        if (favouredLeaves) expect(staying.filter((one) => !isFavoured(one.address))).toEqual([]);
      }),
    );
  });

  test("takes from no address that keeps fewer than another, and of one address the oldest", () => {
    fc.assert(
      fc.property(strangers, fc.nat(70), (all, count) => {
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
