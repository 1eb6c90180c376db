/** What a Pod without rights or secrets can do to a port that it can reach. Numbers are those of one attacker's Pod. */
import type { Socket } from "node:net";
import type { Manner } from "./crowd.ts";

/**
 * On the port of one Pod's manager. Four attackers make 440 silent strangers and 500 connections a second of it: what
 * evicts a stranger to take the next one is done with at 400, and under a container's 10m of CPU at 200 a second.
 */
export const ON_MANAGER: readonly Manner[] = [
  { name: "silent", atOnce: 110, perSecond: 40, misbehave: () => {} },
  {
    name: "half a request",
    atOnce: 40,
    perSecond: 25,
    misbehave: (socket) => void socket.write("GET /guessed/prestop/app HTTP/1.1\r\nHost: "),
  },
  { name: "connects and leaves", atOnce: 40, perSecond: 40, misbehave: () => {}, leavesAfterMs: 0 },
  {
    name: "wrong token",
    atOnce: 40,
    perSecond: 20,
    leavesAfterMs: 1_000,
    misbehave: (socket) => void socket.write("GET /guessed/prestop/app HTTP/1.1\r\nHost: manager\r\n\r\n"),
  },
];

/** Just below what the webhook reads of one body. */
const LARGE_BODY_BYTES = 7 * 1024 * 1024;
const head = (framing: string) =>
  `POST /mutate HTTP/1.1\r\nHost: lastcall-webhook\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
const ONE_BYTE_CHUNKS = Buffer.from("1\r\n \r\n".repeat(13_000));
const ENDLESS_HEADER = Buffer.from(`X-Header: ${"h".repeat(1_000)}\r\n`);
/** Of chunks that makes 130 000 a second of one connection: a memory that keeps each is full in half a minute. */
const WRITE_EVERY_MS = 100;

/** On the webhook's Service, over TLS: each handshake costs both sides, so rates are small. */
export const ON_WEBHOOK: readonly Manner[] = [
  {
    name: "one-byte chunks without end",
    atOnce: 3,
    perSecond: 2,
    misbehave: (socket) => {
      socket.write(head("Transfer-Encoding: chunked"));
      writeWithoutEnd(socket, ONE_BYTE_CHUNKS, WRITE_EVERY_MS);
    },
  },
  {
    name: "parked bodies",
    atOnce: 40,
    perSecond: 3,
    misbehave: (socket) => {
      socket.write(head(`Content-Length: ${LARGE_BODY_BYTES}`));
      socket.write(Buffer.alloc(LARGE_BODY_BYTES - 1, " "));
    },
  },
  {
    name: "slow bodies",
    atOnce: 40,
    perSecond: 5,
    misbehave: (socket) => {
      socket.write(head("Content-Length: 100000"));
      writeWithoutEnd(socket, Buffer.from(" "), 1_000);
    },
  },
  {
    name: "headers without end",
    atOnce: 3,
    perSecond: 2,
    misbehave: (socket) => {
      socket.write("POST /mutate HTTP/1.1\r\nHost: lastcall-webhook\r\n");
      writeWithoutEnd(socket, ENDLESS_HEADER, WRITE_EVERY_MS);
    },
  },
  { name: "idle", atOnce: 200, perSecond: 15, misbehave: () => {} },
];

/** As long as the other side reads. */
function writeWithoutEnd(socket: Socket, bytes: Buffer, everyMs: number): void {
  const timer = setInterval(() => {
    if (!socket.writableNeedDrain) socket.write(bytes);
  }, everyMs);
  socket.once("close", () => clearInterval(timer));
}
