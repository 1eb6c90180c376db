/** Defines the attacks of a Pod without permissions and secrets on a reachable port. Numbers are per attacker's Pod. */
import type { Socket } from "node:net";
import type { Attack } from "./run-attack.ts";

/**
 * Attacks on a manager's port. Four attackers together keep 440 silent connections open, and open 500 new connections a second.
 * A manager that evicts old connections for new ones would fail at 400 open connections or, with a CPU limit of 10m, at 200 new
 * connections a second.
 */
export const MANAGER_ATTACKS: readonly Attack[] = [
  { name: "silent", maxOpen: 110, perSecond: 40, attack: () => {} },
  {
    name: "half a request",
    maxOpen: 40,
    perSecond: 25,
    attack: (socket) => void socket.write("GET /guessed/prestop/app HTTP/1.1\r\nHost: "),
  },
  { name: "connects and disconnects", maxOpen: 40, perSecond: 40, attack: () => {}, disconnectsAfterMs: 0 },
  {
    name: "wrong token",
    maxOpen: 40,
    perSecond: 20,
    disconnectsAfterMs: 1_000,
    attack: (socket) => void socket.write("GET /guessed/prestop/app HTTP/1.1\r\nHost: manager\r\n\r\n"),
  },
];

/** Just below the webhook's body limit. */
const LARGE_BODY_BYTES = 7 * 1024 * 1024;
const requestHead = (framing: string) =>
  `POST /mutate HTTP/1.1\r\nHost: lastcall-webhook\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
const ONE_BYTE_CHUNKS = Buffer.from("1\r\n \r\n".repeat(13_000));
const ENDLESS_HEADER = Buffer.from(`X-Header: ${"h".repeat(1_000)}\r\n`);
/** At this interval each connection sends 130 000 chunks a second: a server that stores every chunk runs out of memory in half a minute. */
const WRITE_EVERY_MS = 100;

/** Attacks on the webhook's Service over TLS. The rates are low, because handshakes cost CPU time on both sides. */
export const WEBHOOK_ATTACKS: readonly Attack[] = [
  {
    name: "one-byte chunks without end",
    maxOpen: 3,
    perSecond: 2,
    attack: (socket) => {
      socket.write(requestHead("Transfer-Encoding: chunked"));
      writeWithoutEnd(socket, ONE_BYTE_CHUNKS, WRITE_EVERY_MS);
    },
  },
  {
    name: "bodies without the last byte",
    maxOpen: 40,
    perSecond: 3,
    attack: (socket) => {
      socket.write(requestHead(`Content-Length: ${LARGE_BODY_BYTES}`));
      socket.write(Buffer.alloc(LARGE_BODY_BYTES - 1, " "));
    },
  },
  {
    name: "slow bodies",
    maxOpen: 40,
    perSecond: 5,
    attack: (socket) => {
      socket.write(requestHead("Content-Length: 100000"));
      writeWithoutEnd(socket, Buffer.from(" "), 1_000);
    },
  },
  {
    name: "headers without end",
    maxOpen: 3,
    perSecond: 2,
    attack: (socket) => {
      socket.write("POST /mutate HTTP/1.1\r\nHost: lastcall-webhook\r\n");
      writeWithoutEnd(socket, ENDLESS_HEADER, WRITE_EVERY_MS);
    },
  },
  { name: "idle", maxOpen: 200, perSecond: 15, attack: () => {} },
];

/** Writes for as long as the server reads. */
function writeWithoutEnd(socket: Socket, bytes: Buffer, everyMs: number): void {
  const timer = setInterval(() => {
    if (!socket.writableNeedDrain) socket.write(bytes);
  }, everyMs);
  socket.once("close", () => clearInterval(timer));
}
