/** Whether anyone but the mesh proxy still has a TCP socket: what a held proxy waits for. */

import type { RelayEndpoint } from "../relay/relay-settings.ts";
import { LISTEN, SYN_RECV, TIME_WAIT } from "../sockets/tcp-states.ts";
import type { Reading, TcpSocket } from "./observation.ts";

/** One look; `known` is false when the proxy cannot be recognised. */
export type Neighbours = {
  readonly known: boolean;
  /** A TCP socket of another user than the proxy's, ours, TIME_WAIT and unfinished handshakes aside. */
  readonly others: boolean;
  /** Something that is no proxy listens as the proxy's user. */
  readonly sharedUser: boolean;
};

export const UNKNOWN_NEIGHBOURS: Neighbours = { known: false, others: false, sharedUser: false };

/**
 * The proxy is recognised by its user: whoever listens on a mesh port. Our own sockets are recognised by our port, or
 * the relay's, and not by our user, because 65532 is also what most distroless apps run as.
 */
export function neighboursIn(reading: Reading | undefined, ownPort: number, relay: RelayEndpoint): Neighbours {
  if (reading === undefined) return UNKNOWN_NEIGHBOURS;
  const proxyUsers: number[] = [];
  for (const socket of reading.sockets) {
    if (socket.state === LISTEN && isMeshPort(socket.localPort)) proxyUsers.push(socket.uid);
  }
  if (proxyUsers.length === 0) return UNKNOWN_NEIGHBOURS;
  const theirs = reading.sockets.filter((socket) => isSomeones(socket, ownPort, relay));
  return {
    known: true,
    others: theirs.some((socket) => !proxyUsers.includes(socket.uid)),
    sharedUser: theirs.some(
      (socket) => proxyUsers.includes(socket.uid) && socket.state === LISTEN && !isMeshPort(socket.localPort),
    ),
  };
}

/** The kernel knows no owner for TIME_WAIT and for a handshake that is not finished. */
function isSomeones(socket: TcpSocket, ownPort: number, relay: RelayEndpoint): boolean {
  if (socket.state === TIME_WAIT || socket.state === SYN_RECV) return false;
  if (socket.peerPort === relay.port && socket.peerAddress === relay.address) return false;
  return socket.localPort !== ownPort && socket.peerPort !== ownPort;
}

/** Istio's and Linkerd's ports. */
export function isMeshPort(port: number): boolean {
  if (port >= 15_000 && port <= 15_090) return true;
  return port === 4_140 || port === 4_143 || port === 4_190 || port === 4_191;
}
