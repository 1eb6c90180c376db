/** Gives each connection of the server its place, from its first packet to its end. */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Connection, type ConnectionPlaces, connectionPlaces } from "./connection-places.ts";
import type { Refuse } from "./refusals.ts";

export type ConnectionOf = (socket: object) => Connection | undefined;

export function watchConnections(server: Server, refuse: Refuse): ConnectionOf {
  const places: ConnectionPlaces = connectionPlaces(() => refuse("connections_full"));
  /** Of those whose handshake is under way, by the other end: TLS wraps the socket in another one. */
  const shaking = new Map<string, Connection>();
  const placed = new WeakMap<object, Connection>();
  server.on("connection", (socket: Socket) => {
    const end = otherEnd(socket);
    const connection = places.add(socket, socket.remoteAddress ?? "");
    shaking.set(end, connection);
    socket.once("close", () => {
      connection.closed();
      if (shaking.get(end) === connection) shaking.delete(end);
    });
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const end = otherEnd(socket);
    const connection = shaking.get(end);
    shaking.delete(end);
    if (connection !== undefined) placed.set(socket, connection);
  });
  return (socket) => placed.get(socket);
}

function otherEnd(socket: Socket): string {
  return `${socket.remoteAddress}|${socket.remotePort}`;
}
