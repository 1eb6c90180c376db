/** Whether anyone but the mesh proxy still has a TCP socket: what a held proxy waits for. */
import type { RelayEndpoint } from "../ports.ts";
import { isSameAddress, parseAddress } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { LISTEN, SYN_RECV, TIME_WAIT } from "../sockets/tcp-states.ts";

/** One look; `known` is false when the proxy cannot be recognised. */
export type Neighbours = {
  readonly known: boolean;
  /** A TCP socket of another user than the proxy's, ours, TIME_WAIT and unfinished handshakes aside. */
  readonly others: boolean;
  /** Something that is no proxy listens as the proxy's user. */
  readonly sharedUser: boolean;
};

export const UNKNOWN_NEIGHBOURS: Neighbours = { known: false, others: false, sharedUser: false };

export type NeighbourWatch = {
  readonly begin: () => void;
  /** Every socket of a look: the listeners first, and otherwise in any order. */
  readonly see: (socket: TcpSocket) => void;
  readonly end: () => Neighbours;
};

/** A Pod has few users. Beyond them there are others than the proxy's for certain. */
const USERS_LIMIT = 64;

/**
 * The proxy is recognised by its user: the user that listens on a mesh port. Our own sockets are recognised by our
 * port, or the relay's, and not by our user, which the Pod may give to its app as well.
 */
export function createNeighbourWatch(ownPort: number, relay: RelayEndpoint): NeighbourWatch {
  const relayAddress = parseAddress(relay.address);
  let proxies: number[] = [];
  let users: number[] = [];
  /** Of listeners that are no proxy. */
  let servers: number[] = [];

  /** The kernel knows no owner for TIME_WAIT and for a handshake that is not finished. */
  const isSomeones = (socket: TcpSocket): boolean => {
    if (socket.state === TIME_WAIT || socket.state === SYN_RECV) return false;
    if (socket.localPort === ownPort || socket.peerPort === ownPort) return false;
    if (socket.peerPort !== relay.port || relayAddress === undefined) return true;
    return !isSameAddress(socket.peerAddress, relayAddress);
  };

  return {
    begin: () => {
      proxies = [];
      users = [];
      servers = [];
    },
    see: (socket) => {
      const serves = socket.state === LISTEN && !isMeshPort(socket.localPort);
      if (socket.state === LISTEN && !serves) note(proxies, socket.uid);
      // Nothing will be known, and most Pods have no proxy.
      if (socket.state !== LISTEN && proxies.length === 0) return;
      if (!isSomeones(socket)) return;
      note(users, socket.uid);
      if (serves) note(servers, socket.uid);
    },
    end: () => {
      if (proxies.length === 0) return UNKNOWN_NEIGHBOURS;
      return {
        known: true,
        others: users.length >= USERS_LIMIT || users.some((uid) => !proxies.includes(uid)),
        sharedUser: servers.some((uid) => proxies.includes(uid)),
      };
    },
  };
}

function note(users: number[], uid: number): void {
  if (users.length < USERS_LIMIT && !users.includes(uid)) users.push(uid);
}

/** Istio's and Linkerd's ports. */
export function isMeshPort(port: number): boolean {
  if (port >= 15_000 && port <= 15_090) return true;
  return port === 4_140 || port === 4_143 || port === 4_190 || port === 4_191;
}
