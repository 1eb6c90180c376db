/** Who but the proxy and ourselves still has sockets: decides how long a mesh proxy stays held. */
import type { Reading } from "./observation.ts";
import { LISTEN, SYN_RECV, TIME_WAIT } from "./tcp-states.ts";

/**
 * TCP connections of other users than the two given. Listeners are left out because other sidecars outlive the proxy;
 * TIME_WAIT and SYN_RECV because the kernel knows no owner for them.
 *
 * @returns -1 when there is no reading; unknown is never zero
 */
export function foreignSockets(reading: Reading | undefined, ownUid: number, proxyUid: number): number {
  if (reading === undefined) return -1;
  let count = 0;
  for (const socket of reading.sockets) {
    if (socket.state === TIME_WAIT || socket.state === LISTEN || socket.state === SYN_RECV) continue;
    if (socket.uid !== ownUid && socket.uid !== proxyUid) count = count + 1;
  }
  return count;
}
