/** Whether anyone but the mesh proxy still has a TCP socket: what a held proxy waits for. */
import type { Reading } from "./observation.ts";

/** One look; `known` is false when the proxy cannot be recognised. */
export type Neighbours = {
  readonly known: boolean;
  /** A TCP socket of another user than the proxy's, ours and TIME_WAIT aside. */
  readonly others: boolean;
  /** Something that is no proxy listens as the proxy's user. */
  readonly sharedUser: boolean;
};

export const UNKNOWN_NEIGHBOURS: Neighbours = { known: false, others: false, sharedUser: false };

const LISTEN = 10;
const TIME_WAIT = 6;

/**
 * The proxy is recognised by its user: whoever listens on a mesh port. Our own sockets are recognised by our port and
 * not by our user, because 65532 is also what most distroless apps run as.
 */
export function neighboursIn(reading: Reading | undefined, ownPort: number): Neighbours {
  if (reading === undefined) return UNKNOWN_NEIGHBOURS;
  const proxyUsers: number[] = [];
  for (const socket of reading.sockets) {
    if (socket.state === LISTEN && isMeshPort(socket.localPort)) proxyUsers.push(socket.uid);
  }
  if (proxyUsers.length === 0) return UNKNOWN_NEIGHBOURS;
  let others = false;
  let sharedUser = false;
  for (const socket of reading.sockets) {
    if (socket.state === TIME_WAIT || socket.localPort === ownPort || socket.peerPort === ownPort) continue;
    if (!proxyUsers.includes(socket.uid)) others = true;
    else if (socket.state === LISTEN && !isMeshPort(socket.localPort)) sharedUser = true;
  }
  return { known: true, others, sharedUser };
}

/** Istio's and Linkerd's ports. */
export function isMeshPort(port: number): boolean {
  if (port >= 15_000 && port <= 15_090) return true;
  return port === 4_140 || port === 4_143 || port === 4_190 || port === 4_191;
}
