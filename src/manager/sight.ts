/** What the manager can see of its Pod's sockets, and what follows for its drains. Told once, at its start. */
import { formatDuration } from "../contract/duration.ts";
import { UNTOLD_MS } from "./drain/blind.ts";
import type { SocketReader } from "./sockets/sockets.ts";

export type Sight = "netlink" | "proc" | "nothing";

/** One look that nothing is remembered of. */
export function sightOf(readSockets: SocketReader): Sight {
  let torn = false;
  const reading = readSockets(0, {
    onListener: () => {},
    onConnection: () => {},
    onUdpPort: () => false,
    onManyUdp: () => {},
    onTorn: () => {
      torn = true;
    },
  });
  if (reading !== undefined) return reading.source;
  // Only netlink says of a table that it changed meanwhile.
  return torn ? "netlink" : "nothing";
}

export function sightWords(sight: Sight): string {
  if (sight === "netlink") return "netlink: who spoke last is known, so drains end when the traffic is quiet";
  if (sight === "proc") {
    const waits = `hand over ${formatDuration(UNTOLD_MS)} after the last traffic that shows`;
    return `proc: connections are counted, who spoke last is not known; drains with connections left ${waits}`;
  }
  return "nothing: neither netlink nor /proc/net can be read; drains hand over when their delays are over";
}
