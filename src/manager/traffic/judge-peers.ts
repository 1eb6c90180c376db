/** Whose address a peer has: the Pod's own, the kubelet's, or somebody else's. */
import { canonicalAddress, isAnyAddress, isLoopbackAddress } from "../sockets/address-text.ts";
import type { Reading } from "./observation.ts";

export type Peers = {
  readonly learnOwn: (reading: Reading) => void;
  readonly learnKubelet: (address: string) => void;
  readonly isOwn: (address: string) => boolean;
  readonly isKubelet: (address: string) => boolean;
};

/** A node has few addresses; more than this is somebody playing with hooks. */
const KUBELET_ADDRESSES_LIMIT = 8;

/** @param addressScope the Pod's one address where several share the namespace; empty when all local addresses are its own */
export function createPeers(addressScope: string): Peers {
  const scope = canonicalAddress(addressScope);
  const own = new Set<string>();
  const kubelet = new Set<string>();

  const isOwn = (address: string): boolean => {
    if (scope !== "") return address === scope;
    return !isMeshInbound(address) && (isLoopbackAddress(address) || own.has(address));
  };
  return {
    isOwn,
    /** Ask {@link isOwn} first: whoever in the Pod calls a hook is no kubelet. */
    isKubelet: (address) => kubelet.has(address),
    learnOwn: (reading) => {
      if (scope !== "") return;
      let last = "";
      for (const { localAddress } of reading.sockets) {
        if (localAddress === last) continue;
        last = localAddress;
        if (!isAnyAddress(localAddress)) own.add(localAddress);
      }
    },
    learnKubelet: (address) => {
      if (kubelet.size < KUBELET_ADDRESSES_LIMIT) kubelet.add(canonicalAddress(address));
    },
  };
}

/** Istio's sidecar hands inbound connections to the app from these addresses: they are somebody else's, passed on. */
function isMeshInbound(address: string): boolean {
  return address === "127.0.0.6" || address === "::6";
}
