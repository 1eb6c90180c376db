/** Registers each connection of the server with the connection limit, from accept to close. */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Connection, type ConnectionLimit, createConnectionLimit } from "./connection-limit.ts";
import type { Refuse } from "./refusals.ts";

export type ConnectionOf = (socket: object) => Connection | undefined;

export function trackConnections(server: Server, refuse: Refuse): ConnectionOf {
  const connectionLimit: ConnectionLimit = createConnectionLimit(() => refuse("connections_full"));
  /** By remote address and port, because the TLS socket is another object than the accepted socket. */
  const handshaking = new Map<string, Connection>();
  const tracked = new WeakMap<object, Connection>();
  server.on("connection", (socket: Socket) => {
    const end = remoteEnd(socket);
    const connection = connectionLimit.add(socket, socket.remoteAddress ?? "");
    handshaking.set(end, connection);
    socket.once("close", () => {
      connection.closed();
      if (handshaking.get(end) === connection) handshaking.delete(end);
    });
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const end = remoteEnd(socket);
    const connection = handshaking.get(end);
    handshaking.delete(end);
    if (connection !== undefined) tracked.set(socket, connection);
  });
  return (socket) => tracked.get(socket);
}

function remoteEnd(socket: Socket): string {
  return `${socket.remoteAddress}|${socket.remotePort}`;
}
