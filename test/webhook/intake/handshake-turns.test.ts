import { EventEmitter } from "node:events";
import type { Server } from "node:https";
import { expect, test } from "vitest";
import { HANDSHAKES_PER_TURN, paceHandshakes } from "../../../src/webhook/intake/more-listeners.ts";

type Connection = { readonly remoteAddress: string; destroyed: boolean };

function scene() {
  const started: string[] = [];
  const turns: (() => void)[] = [];
  const server = new EventEmitter();
  server.on("connection", ({ remoteAddress }: Connection) => started.push(remoteAddress));
  paceHandshakes(server as Server, (turn) => turns.push(turn));
  const connects = (remoteAddress: string): Connection => {
    const connection = { remoteAddress, destroyed: false };
    server.emit("connection", connection);
    return connection;
  };
  /** @returns the addresses whose handshakes it started */
  const turn = (): readonly string[] => {
    turns.shift()?.();
    return started.splice(0);
  };
  return { connects, turn, turns };
}

const many = (count: number, what: () => unknown) => {
  for (let index = 0; index < count; index += 1) what();
};

test("waiting TLS handshakes start a few per turn of the event loop", () => {
  const { connects, turn, turns } = scene();
  many(2 * HANDSHAKES_PER_TURN + 1, () => connects("a"));
  expect([turn(), turn(), turn()].map(({ length }) => length)).toEqual([HANDSHAKES_PER_TURN, HANDSHAKES_PER_TURN, 1]);
  expect(turns).toEqual([]);
});

test("the first TLS handshake of a client address handshakeListeners before the second of any other address", () => {
  const { connects, turn } = scene();
  many(1_000, () => connects("a"));
  many(1_000, () => connects("b"));
  turn();
  connects("c");
  expect(turn().slice(0, 3)).toContain("c");
});

test("a connection that closes before its TLS handshake is skipped", () => {
  const { connects, turn } = scene();
  many(100, () => {
    connects("a").destroyed = true;
  });
  connects("a");
  expect(turn()).toEqual(["a"]);
});
