/** Reference implementation of the table of connections, which keeps their state between samples: a map of objects. */
import { endpointText } from "../../src/manager/sockets/address-text.ts";
import type { TcpSocket } from "../../src/manager/sockets/reading.ts";
import type { ConnectionMemory, TrackedConnection } from "../../src/manager/traffic/connection-memory.ts";
import { CYCLING, NO_EXCHANGE } from "../../src/manager/traffic/cycling.ts";

type Entry = { readonly key: string; connection: TrackedConnection | undefined; isStored: boolean };

export function createPlainMemory(): ConnectionMemory {
  let entries: Entry[] = [];
  let recordsByKey = new Map<string, number>();
  const keyOf = (socket: TcpSocket) =>
    `${endpointText(socket.localAddress, socket.localPort)} ${endpointText(socket.peerAddress, socket.peerPort)}`;
  const entryAt = (record: number): Entry => {
    const entry = entries[record];
    if (entry === undefined) throw new Error(`record ${record} does not exist`);
    return entry;
  };
  return {
    startSample: () => {
      for (const entry of entries) entry.isStored = false;
    },
    find: (socket) => recordsByKey.get(keyOf(socket)) ?? -1,
    add: (socket) => {
      const key = keyOf(socket);
      recordsByKey.set(key, entries.length);
      entries.push({ key, connection: undefined, isStored: false });
      return entries.length - 1;
    },
    isStored: (record) => entryAt(record).isStored,
    load: (record) => {
      const { connection } = entryAt(record);
      if (connection === undefined) throw new Error(`record ${record} was never stored`);
      return connection;
    },
    store: (record, connection) => {
      entryAt(record).connection = connection;
      entryAt(record).isStored = true;
    },
    // Disables the fast path for unchanged connections.
    isUnchanged: () => false,
    firstSampledAtMs: (record) => entryAt(record).connection?.firstSampledAtMs ?? -1,
    outstandingSinceMs: (record) => entryAt(record).connection?.outstandingSinceMs ?? -1,
    exchangeStep: (record) => entryAt(record).connection?.exchangeStep ?? NO_EXCHANGE,
    storeUnchanged: () => undefined,
    dropMissing: () => {
      const removedEntries = entries.filter((entry) => !entry.isStored);
      entries = entries.filter((entry) => entry.isStored);
      recordsByKey = new Map(entries.map(({ key }, record) => [key, record]));
      for (const entry of entries) entry.isStored = false;
      const workingEntries = removedEntries.filter((entry) => entry.connection?.working === true);
      const cyclingWorkingEntries = workingEntries.filter((entry) => entry.connection?.exchangeStep === CYCLING);
      return { workingCount: workingEntries.length, cyclingWorkingCount: cyclingWorkingEntries.length };
    },
  };
}
