/** Classifies peer addresses: addresses of the Pod, of the kubelet, or of others. */
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
  readonly addOwn: (localAddress: Address) => void;
  readonly addKubelet: (address: string) => void;
  readonly isOwn: (socket: TcpSocket) => boolean;
  readonly isKubelet: (address: Address) => boolean;
};

/** The kubelet's node has fewer addresses. Further addresses can only be from forged hook requests. */
const KUBELET_ADDRESSES_LIMIT = 8;
/** An address beyond the limit counts as a client's, so its connections are traffic. */
const OWN_ADDRESSES_LIMIT = 256;

const ANY: Address = { a: 0, b: 0, c: 0, d: 0 };

/** @param addressScope the Pod's address in a shared network namespace; if empty, all local addresses are the Pod's */
export function createPeers(addressScope: string): Peers {
  const scope = parseAddress(addressScope);
  const isScoped = addressScope !== "";
  const ownAddresses = createAddressList(OWN_ADDRESSES_LIMIT);
  const kubeletAddresses = createAddressList(KUBELET_ADDRESSES_LIMIT);
  let lastAdded = ANY;

  return {
    isOwn: ({ localAddress, peerAddress }) => {
      if (isScoped) return scope !== undefined && isSameAddress(peerAddress, scope);
      if (isMeshInbound(peerAddress)) return false;
      return (
        isLoopback(peerAddress) || isSameAddress(peerAddress, localAddress) || ownAddresses.indexOf(peerAddress) >= 0
      );
    },
    /** Callers have to check {@link isOwn} first, because a client in the Pod is not the kubelet. */
    isKubelet: (address) => kubeletAddresses.indexOf(address) >= 0,
    addOwn: (localAddress) => {
      // Nearly all sockets have the same local address, which is in the list already.
      if (isSameAddress(localAddress, lastAdded)) return;
      lastAdded = localAddress;
      if (!isScoped && !isAny(localAddress) && !isLoopback(localAddress)) ownAddresses.add(localAddress);
    },
    addKubelet: (address) => {
      const parsedAddress = parseAddress(address);
      if (parsedAddress !== undefined) kubeletAddresses.add(parsedAddress);
    },
  };
}
