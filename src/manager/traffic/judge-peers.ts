/** Whose address a peer has: the Pod's own, the kubelet's, or another one. */
import {
  type Address,
  isAny,
  isLoopback,
  isMeshInbound,
  isSameAddress,
  parseAddress,
} from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { createAddressList } from "./address-list.ts";

type Peers = {
  /** Every socket of a look shows an address of the Pod. */
  readonly learnOwn: (localAddress: Address) => void;
  readonly learnKubelet: (address: string) => void;
  /** The peer of a connection is the Pod itself. */
  readonly isOwn: (socket: TcpSocket) => boolean;
  readonly isKubelet: (address: Address) => boolean;
};

/** A node has few addresses; more than this means that a program plays with hooks. */
const KUBELET_ADDRESSES_LIMIT = 8;
/** A Pod has few as well. One that is forgotten is taken for a client's: waited for, never missed. */
const OWN_ADDRESSES_LIMIT = 256;

const ANY: Address = { a: 0, b: 0, c: 0, d: 0 };

/** @param addressScope the Pod's one address where several share the namespace; empty when all local addresses are its own */
export function createPeers(addressScope: string): Peers {
  const scope = parseAddress(addressScope);
  const scoped = addressScope !== "";
  const own = createAddressList(OWN_ADDRESSES_LIMIT);
  const kubelet = createAddressList(KUBELET_ADDRESSES_LIMIT);
  let lastLearned = ANY;

  return {
    isOwn: ({ localAddress, peerAddress }) => {
      if (scoped) return scope !== undefined && isSameAddress(peerAddress, scope);
      if (isMeshInbound(peerAddress)) return false;
      return isLoopback(peerAddress) || isSameAddress(peerAddress, localAddress) || own.indexOf(peerAddress) >= 0;
    },
    /** Ask {@link isOwn} first: a caller of a hook from inside the Pod is no kubelet. */
    isKubelet: (address) => kubelet.indexOf(address) >= 0,
    learnOwn: (localAddress) => {
      // Nearly all sockets of a look have the same one.
      if (isSameAddress(localAddress, lastLearned)) return;
      lastLearned = localAddress;
      if (!scoped && !isAny(localAddress) && !isLoopback(localAddress)) own.add(localAddress);
    },
    learnKubelet: (address) => {
      const known = parseAddress(address);
      if (known !== undefined) kubelet.add(known);
    },
  };
}
