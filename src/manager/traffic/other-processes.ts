/** Detects TCP sockets of processes other than the mesh proxy. The proxy's hook is held while such sockets exist. */
import type { RelayEndpoint } from "../ports.ts";
import { isSameAddress, parseAddress } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { LISTEN, SYN_RECV, TIME_WAIT } from "../sockets/tcp-states.ts";

export type OtherProcesses = {
  readonly known: boolean;
  /** Whether a user other than the proxy's has a TCP socket. Sockets of the manager, TIME_WAIT and handshakes do not count. */
  readonly hasOthers: boolean;
  /** Whether a process other than the proxy listens with the proxy's user. */
  readonly hasSharedUser: boolean;
};

export const UNKNOWN_PROCESSES: OtherProcesses = { known: false, hasOthers: false, hasSharedUser: false };

export type ProcessWatch = {
  readonly startSample: () => void;
  readonly add: (socket: TcpSocket) => void;
  readonly finishSample: () => OtherProcesses;
};

/** If sockets have this many users, at least one is not the proxy's. */
const USERS_LIMIT = 64;

/**
 * Recognises the proxy by the user that listens on a mesh port. Recognises the manager's own sockets by its port and the relay's
 * address, because the app may have the manager's user.
 */
export function createProcessWatch(ownPort: number, relay: RelayEndpoint): ProcessWatch {
  const relayAddress = parseAddress(relay.address);
  let proxyUsers: number[] = [];
  let users: number[] = [];
  let otherListenerUsers: number[] = [];

  /** False for the manager's sockets, and for sockets without a user: TIME_WAIT and handshakes. */
  const isCounted = (socket: TcpSocket): boolean => {
    if (socket.state === TIME_WAIT || socket.state === SYN_RECV) return false;
    if (socket.localPort === ownPort || socket.peerPort === ownPort) return false;
    if (socket.peerPort !== relay.port || relayAddress === undefined) return true;
    return !isSameAddress(socket.peerAddress, relayAddress);
  };

  return {
    startSample: () => {
      proxyUsers = [];
      users = [];
      otherListenerUsers = [];
    },
    add: (socket) => {
      const isOtherListener = socket.state === LISTEN && !isMeshPort(socket.localPort);
      if (socket.state === LISTEN && !isOtherListener) addUser(proxyUsers, socket.uid);
      // Connections matter only if the Pod has a proxy. The proxy is known here, because listeners are added before connections.
      if (socket.state !== LISTEN && proxyUsers.length === 0) return;
      if (!isCounted(socket)) return;
      addUser(users, socket.uid);
      if (isOtherListener) addUser(otherListenerUsers, socket.uid);
    },
    finishSample: () => {
      if (proxyUsers.length === 0) return UNKNOWN_PROCESSES;
      return {
        known: true,
        hasOthers: users.length >= USERS_LIMIT || users.some((uid) => !proxyUsers.includes(uid)),
        hasSharedUser: otherListenerUsers.some((uid) => proxyUsers.includes(uid)),
      };
    },
  };
}

function addUser(users: number[], uid: number): void {
  if (users.length < USERS_LIMIT && !users.includes(uid)) users.push(uid);
}

/** Whether Istio (15000 to 15090) or Linkerd uses the port. */
export function isMeshPort(port: number): boolean {
  if (port >= 15_000 && port <= 15_090) return true;
  return port === 4_140 || port === 4_143 || port === 4_190 || port === 4_191;
}
