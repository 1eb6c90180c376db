/**
 * Which connection has to go when there are too many. Silence and slow reading are counted apart: those who say nothing
 * take no place from those who ask, and a newcomer has a moment to ask.
 */
import type { Socket } from "node:net";

/** Each costs some kilobytes. A flood of 10 000 a second leaves each 25 ms to send its request. */
const SILENT_LIMIT = 256;
/** People and their command lines, through the API server's proxy. The answer to each may hold every drain. */
const ANSWERED_LIMIT = 32;

export type AdminConnections = {
  readonly add: (socket: Socket) => void;
  /** A request came on it. */
  readonly asked: (socket: Socket) => void;
};

export function adminConnections(): AdminConnections {
  const silent = new Set<Socket>();
  const answered = new Set<Socket>();

  const addTo = (sockets: Set<Socket>, socket: Socket, limit: number): void => {
    sockets.add(socket);
    const [oldest] = sockets;
    if (sockets.size <= limit || oldest === undefined) return;
    sockets.delete(oldest);
    oldest.destroy();
  };

  return {
    add: (socket) => {
      addTo(silent, socket, SILENT_LIMIT);
      socket.once("close", () => {
        silent.delete(socket);
        answered.delete(socket);
      });
    },
    asked: (socket) => {
      if (silent.delete(socket)) addTo(answered, socket, ANSWERED_LIMIT);
    },
  };
}
