/** Loopback addresses that no other test, suite or demo on this machine uses, whatever the port. */
import { leaseLoopbackNetwork } from "../../src/demo/network/loopback-network.ts";

/** Hosts of 127.a.b.0/24 that are neither the network's own address nor its last. */
const HOSTS = 254;

let network = "";
let lastHost = HOSTS;

/**
 * No two Pods of one machine share an address. What is connected to on it before anything listens there is refused, which
 * no port of an address that all share can promise.
 */
export function ownAddress(): string {
  if (lastHost === HOSTS) {
    network = leaseLoopbackNetwork();
    lastHost = 0;
  }
  lastHost += 1;
  return `${network}.${lastHost}`;
}
