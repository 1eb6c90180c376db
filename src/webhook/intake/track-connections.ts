/** Registers each connection of the server with the connection limit, from accept to close. */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Connection, type ConnectionLimit, createConnectionLimit } from "./connection-limit.ts";
import type { RecordRefusal } from "./refusals.ts";

export type ConnectionOf = (socket: object) => Connection | undefined;

export function trackConnections(server: Server, recordRefusal: RecordRefusal): ConnectionOf {
  const connectionLimit: ConnectionLimit = createConnectionLimit(() => recordRefusal("connections_full"));
  /** By remote address and port, because the TLS socket and the accepted socket are different objects. */
  const handshakingConnections = new Map<string, Connection>();
  const establishedConnections = new WeakMap<object, Connection>();
  server.on("connection", (socket: Socket) => {
    const remoteEndpoint = remoteEndpointOf(socket);
    const connection = connectionLimit.add(socket, socket.remoteAddress ?? "");
    handshakingConnections.set(remoteEndpoint, connection);
    socket.once("close", () => {
      connection.closed();
      if (handshakingConnections.get(remoteEndpoint) === connection) handshakingConnections.delete(remoteEndpoint);
    });
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const remoteEndpoint = remoteEndpointOf(socket);
    const connection = handshakingConnections.get(remoteEndpoint);
    handshakingConnections.delete(remoteEndpoint);
    if (connection !== undefined) establishedConnections.set(socket, connection);
  });
  return (socket) => establishedConnections.get(socket);
}

function remoteEndpointOf(socket: Socket): string {
  return `${socket.remoteAddress}|${socket.remotePort}`;
}
