/**
 * Opens more listeners on the server's port, and limits the rate of TLS handshakes. Node accepts one connection per listener in
 * each turn of the event loop, so with one listener 700 waiting clients delay API servers and kubelet probes. Linux distributes
 * connections among listeners. If a turn takes 20 ms under attack, 64 listeners accept 3,200 connections a second.
 */
import type { Server as HttpsServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";
import { createFairQueue } from "./fair-queue.ts";

const LISTENER_COUNT = process.platform === "linux" ? 64 : 1;
/** 2,048 connections for all listeners. Above the limit the kernel drops a SYN, which the client retransmits after a second. */
const BACKLOG_PER_LISTENER = 32;

export const LISTEN_OPTIONS = { reusePort: LISTENER_COUNT > 1, backlog: BACKLOG_PER_LISTENER } as const;

/** Rejects when another socket listens on the port: with `reusePort`, two programs would silently share its connections. */
export async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen({ host, port }, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

export type CloseListeners = () => Promise<void>;

export async function openMoreListeners(
  server: HttpsServer,
  address: { host: string; port: number },
): Promise<CloseListeners> {
  const extraServers: Server[] = [];
  while (extraServers.length < LISTENER_COUNT - 1) extraServers.push(await openListener(server, address));
  return async () => {
    await Promise.all(extraServers.map((extraServer) => new Promise((resolve) => extraServer.close(resolve))));
  };
}

function openListener(server: HttpsServer, { host, port }: { host: string; port: number }): Promise<Server> {
  // Node documents this event as the way to pass a connection to a TLS server.
  const extraServer = createServer(
    { noDelay: true, pauseOnConnect: true },
    (socket) => void server.emit("connection", socket),
  );
  return new Promise((resolve, reject) => {
    extraServer.once("error", reject);
    extraServer.listen({ ...LISTEN_OPTIONS, host, port }, () => resolve(extraServer));
  });
}

/** This number of handshakes takes about 6 ms in each turn of the event loop. */
export const HANDSHAKES_PER_TURN = 16;

/**
 * Starts a limited number of TLS handshakes per turn, round-robin by address. A client without credentials can start a handshake,
 * which costs the server a signature: without a limit, 2,000 a second make the kernel drop connections of API servers. Call it
 * before other "connection" listeners are added, because the existing listeners are the ones that start a handshake.
 */
export function paceHandshakes(server: HttpsServer, scheduleTurn: (turn: () => void) => void = setImmediate): void {
  const waitingSockets = createFairQueue<Socket>();
  const handshakeListeners = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  // Without this option Node reads a waiting socket, and TLS could miss the first bytes.
  (server as { pauseOnConnect?: boolean }).pauseOnConnect = true;
  let isTurnScheduled = false;
  const schedule = (): void => {
    if (isTurnScheduled || waitingSockets.isEmpty()) return;
    isTurnScheduled = true;
    scheduleTurn(runTurn);
  };
  const runTurn = (): void => {
    isTurnScheduled = false;
    for (let handshakeCount = 0; handshakeCount < HANDSHAKES_PER_TURN; ) {
      const socket = waitingSockets.shift();
      if (socket === undefined) return;
      if (socket.destroyed) continue;
      for (const listener of handshakeListeners) listener.call(server, socket);
      handshakeCount += 1;
    }
    schedule();
  };
  server.on("connection", (socket: Socket) => {
    waitingSockets.push(socket.remoteAddress ?? "", socket);
    schedule();
  });
}
