import { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createConnectionTable } from "../../src/manager/calls/connection-table.ts";

let sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

function newSocket(): Socket {
  const socket = new Socket();
  sockets.push(socket);
  return socket;
}

/** Time moves by one with every question, so that the order of arrival is plain. */
function admitted(count: number) {
  let nowMs = 0;
  const table = createConnectionTable(() => {
    nowMs += 0.001;
    return nowMs;
  });
  const crowd = Array.from({ length: count }, newSocket);
  for (const socket of crowd) table.admit(socket);
  return { table, crowd };
}

describe("the connection table", () => {
  test("takes 256 strangers without closing one", () => {
    const { crowd, table } = admitted(256);
    expect(crowd.filter((socket) => socket.destroyed)).toEqual([]);
    expect(table.accepted()).toBe(256);
  });

  test("closes the oldest strangers for newcomers", () => {
    const { crowd } = admitted(300);
    expect(crowd.map((socket) => socket.destroyed)).toEqual(crowd.map((_, index) => index < 44));
  });

  test("never closes a connection that holds a hook", () => {
    const { crowd, table } = admitted(10);
    const kept = crowd.slice(0, 4);
    for (const socket of kept) table.keep(socket);
    for (let index = 0; index < 1_000; index += 1) table.admit(newSocket());
    expect(kept.every((socket) => !socket.destroyed)).toBe(true);
    expect(sockets.filter((socket) => !socket.destroyed).length).toBe(256);
  });

  test("takes newcomers even when every place holds a hook", () => {
    const { crowd, table } = admitted(256);
    for (const socket of crowd) table.keep(socket);
    const newcomer = newSocket();
    table.admit(newcomer);
    expect(newcomer.destroyed).toBe(false);
    expect(crowd.some((socket) => socket.destroyed)).toBe(false);
  });

  test("treats a connection whose hook was answered as a stranger again", () => {
    const { crowd, table } = admitted(1);
    const answered = crowd[0] ?? newSocket();
    table.keep(answered);
    table.dismiss(answered);
    for (let index = 0; index < 256; index += 1) table.admit(newSocket());
    expect(answered.destroyed).toBe(true);
  });

  test("forgets connections that went by themselves", async () => {
    const { crowd, table } = admitted(256);
    const gone = crowd[7] ?? newSocket();
    await new Promise<void>((resolve) => {
      gone.on("close", () => resolve());
      gone.destroy();
    });
    table.admit(newSocket());
    expect(crowd.filter((socket) => socket.destroyed)).toEqual([gone]);
  });
});
