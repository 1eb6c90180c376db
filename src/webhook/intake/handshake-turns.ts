/**
 * Starts TLS handshakes a few at a time, one address after the other. Each costs a signature of the server's key, a few tenths of
 * a millisecond, and needs no right: without turns, 2 000 a second make the kernel drop an API server's connections.
 */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import { fairQueue } from "./fair-queue.ts";

/** Some six milliseconds of work between two turns of the event loop, in each of which every listener accepts a connection. */
export const HANDSHAKES_A_TURN = 16;

/** Before anything else listens for connections of this server: what listens now starts the handshake. */
export function paceHandshakes(server: Server, nextTurn: (turn: () => void) => void = setImmediate): void {
  const waiting = fairQueue<Socket>();
  const starts = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  // Node reads from a connection at once otherwise, and TLS could miss its first bytes.
  (server as { pauseOnConnect?: boolean }).pauseOnConnect = true;
  let isDue = false;
  const schedule = (): void => {
    if (isDue || waiting.isEmpty()) return;
    isDue = true;
    nextTurn(turn);
  };
  const turn = (): void => {
    isDue = false;
    for (let started = 0; started < HANDSHAKES_A_TURN; ) {
      const socket = waiting.shift();
      if (socket === undefined) return;
      // It gave way to another connection.
      if (socket.destroyed) continue;
      for (const start of starts) start.call(server, socket);
      started += 1;
    }
    schedule();
  };
  server.on("connection", (socket: Socket) => {
    waiting.push(socket.remoteAddress ?? "", socket);
    schedule();
  });
}
