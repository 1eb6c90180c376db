/**
 * Further listeners on the server's port. Node accepts one connection per listener in each turn of its loop, so with one listener
 * 700 waiting clients are in front of an API server, and of the kubelet's probes. Linux spreads connections among them. Under attack a
 * turn may take 20 ms: 64 accept 3 200 a second then, more than clients of some addresses open.
 */
import type { Server as HttpsServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";
import { fairQueue } from "./fair-queue.ts";

const LISTENERS = process.platform === "linux" ? 64 : 1;
/** All of them together hold 2 048. Beyond it the kernel drops a handshake, and the client repeats it after a second. */
const QUEUE_PER_LISTENER = 32;

/** For the first listener too. */
export const LISTENING = { reusePort: LISTENERS > 1, backlog: QUEUE_PER_LISTENER } as const;

/**
 * Rejects when another socket listens on the port: two programs that share ports by `reusePort` would each get a part of the
 * connections, and neither an error.
 */
export async function demandFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen({ host, port }, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

/** Resolves when none listens any more and all connections that came by them have ended. */
export type CloseListeners = () => Promise<void>;

/** @param at the address on which `server` listens */
export async function moreListeners(server: HttpsServer, at: { host: string; port: number }): Promise<CloseListeners> {
  const others: Server[] = [];
  while (others.length < LISTENERS - 1) others.push(await another(server, at));
  return async () => {
    await Promise.all(others.map((other) => new Promise((resolve) => other.close(resolve))));
  };
}

function another(server: HttpsServer, { host, port }: { host: string; port: number }): Promise<Server> {
  // Node documents this event as the way to hand a connection to a TLS server.
  const other = createServer(
    { noDelay: true, pauseOnConnect: true },
    (socket) => void server.emit("connection", socket),
  );
  return new Promise((resolve, reject) => {
    other.once("error", reject);
    other.listen({ ...LISTENING, host, port }, () => resolve(other));
  });
}

/** Some six milliseconds of work between two turns of the event loop, in each of which every listener accepts a connection. */
export const HANDSHAKES_A_TURN = 16;

/**
 * Starts TLS handshakes a few at a time, one address after the other. Each costs a signature of the server's key, a few tenths of
 * a millisecond, and needs no right: without turns, 2 000 a second make the kernel drop an API server's connections. Call it
 * before other listeners for connections are added: those that are there now start the handshake.
 */
export function paceHandshakes(server: HttpsServer, nextTurn: (turn: () => void) => void = setImmediate): void {
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
