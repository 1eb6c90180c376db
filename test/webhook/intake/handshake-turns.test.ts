import { EventEmitter } from "node:events";
import type { Server } from "node:https";
import { expect, test } from "vitest";
import { HANDSHAKES_PER_TURN, paceHandshakes } from "../../../src/webhook/intake/more-listeners.ts";

type Connection = { readonly remoteAddress: string; destroyed: boolean };

function createPacedServer() {
  const startedAddresses: string[] = [];
  const pendingTurns: (() => void)[] = [];
  const server = new EventEmitter();
  server.on("connection", ({ remoteAddress }: Connection) => startedAddresses.push(remoteAddress));
  paceHandshakes(server as Server, (turn) => pendingTurns.push(turn));
  const connect = (remoteAddress: string): Connection => {
    const connection = { remoteAddress, destroyed: false };
    server.emit("connection", connection);
    return connection;
  };
  /** Runs the next turn. @returns the addresses whose handshakes the turn started */
  const runTurn = (): readonly string[] => {
    pendingTurns.shift()?.();
    return startedAddresses.splice(0);
  };
  return { connect, runTurn, pendingTurns };
}

const repeat = (count: number, action: () => unknown) => {
  for (let index = 0; index < count; index += 1) action();
};

test("at most 16 waiting TLS handshakes start per turn of the event loop", () => {
  const { connect, runTurn, pendingTurns } = createPacedServer();
  repeat(2 * HANDSHAKES_PER_TURN + 1, () => connect("a"));
  expect([runTurn(), runTurn(), runTurn()].map(({ length }) => length)).toEqual([
    HANDSHAKES_PER_TURN,
    HANDSHAKES_PER_TURN,
    1,
  ]);
  expect(pendingTurns).toEqual([]);
});

test("the first TLS handshake of a client address starts before the second of any other address", () => {
  const { connect, runTurn } = createPacedServer();
  repeat(1_000, () => connect("a"));
  repeat(1_000, () => connect("b"));
  runTurn();
  connect("c");
  expect(runTurn().slice(0, 3)).toContain("c");
});

test("a connection that closes before its TLS handshake is skipped", () => {
  const { connect, runTurn } = createPacedServer();
  repeat(100, () => {
    connect("a").destroyed = true;
  });
  connect("a");
  expect(runTurn()).toEqual(["a"]);
});
