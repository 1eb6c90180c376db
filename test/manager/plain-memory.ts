/** Reference implementation of the connection memory: a map of objects. */
import { endpointText } from "../../src/manager/sockets/address-text.ts";
import type { TcpSocket } from "../../src/manager/sockets/reading.ts";
import type { ConnectionMemory, TrackedConnection } from "../../src/manager/traffic/connection-memory.ts";

type Entry = { readonly key: string; seen: TrackedConnection | undefined; kept: boolean };

export function createPlainMemory(): ConnectionMemory {
  let entries: Entry[] = [];
  let byKey = new Map<string, number>();
  const keyOf = (socket: TcpSocket) =>
    `${endpointText(socket.localAddress, socket.localPort)} ${endpointText(socket.peerAddress, socket.peerPort)}`;
  const at = (record: number): Entry => {
    const entry = entries[record];
    if (entry === undefined) throw new Error(`record ${record} does not exist`);
    return entry;
  };
  return {
    startSample: () => {
      for (const entry of entries) entry.kept = false;
    },
    find: (socket) => byKey.get(keyOf(socket)) ?? -1,
    add: (socket) => {
      const key = keyOf(socket);
      byKey.set(key, entries.length);
      entries.push({ key, seen: undefined, kept: false });
      return entries.length - 1;
    },
    isStored: (record) => at(record).kept,
    load: (record) => {
      const { seen } = at(record);
      if (seen === undefined) throw new Error(`record ${record} was never stored`);
      return seen;
    },
    store: (record, seen) => {
      at(record).seen = seen;
      at(record).kept = true;
    },
    // Disables the fast path for unchanged connections.
    isUnchanged: () => false,
    firstSeenMs: (record) => at(record).seen?.firstSeenMs ?? -1,
    storeUnchanged: () => undefined,
    dropMissing: () => {
      const gone = entries.filter((entry) => !entry.kept);
      entries = entries.filter((entry) => entry.kept);
      byKey = new Map(entries.map(({ key }, record) => [key, record]));
      for (const entry of entries) entry.kept = false;
      return gone.filter((entry) => entry.seen?.working === true).length;
    },
  };
}
