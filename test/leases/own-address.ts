/** Loopback addresses that no other test, suite or demo on this machine uses, whatever the port. */
import { leaseLoopbackNetwork } from "../../src/demo/network/loopback-network.ts";

/** Usable hosts of 127.a.b.0/24, without the network's address and its broadcast address. */
const HOSTS_PER_NETWORK = 254;

let network = "";
let lastHost = HOSTS_PER_NETWORK;

/**
 * @returns an address that no other Pod of this machine has. Until a server listens on the address, it refuses connections;
 * on a shared address another program could listen on the port.
 */
export function ownAddress(): string {
  if (lastHost === HOSTS_PER_NETWORK) {
    network = leaseLoopbackNetwork();
    lastHost = 0;
  }
  lastHost += 1;
  return `${network}.${lastHost}`;
}
