/**
 * Stores connections in two flat arrays: eleven 32-bit words per connection instead of an object of 0.5 KB. Addresses and ports
 * identify a record, so two connections never share a record.
 */
import type { TcpSocket } from "../sockets/reading.ts";
import { createAddressList } from "./address-list.ts";
import { createSlotHash, type SlotHash } from "./slot-hash.ts";

export type ConnectionRecords = {
  readonly find: (socket: TcpSocket) => number;
  readonly add: (socket: TcpSocket) => number;
  readonly field: (record: number, field: number) => number;
  readonly setField: (record: number, field: number, value: number) => void;
  readonly flags: (record: number) => number;
  readonly setFlags: (record: number, flags: number) => void;
  readonly count: () => number;
  readonly retain: (shouldKeep: (record: number) => boolean) => void;
};

/** Number of 32-bit values per connection, in addition to 16 flags. */
const FIELDS = 5;

/** Layout in words: peer address (4), ports (1), index of the local address with the flags (1), values ({@link FIELDS}). */
const PORTS = 4;
const LOCAL = 5;
const FIRST_FIELD = 6;
const WORDS = FIRST_FIELD + FIELDS;
/** Shifts a value to the high half of a word. The flags are the low half. */
const HALF = 65_536;

const INITIAL_CAPACITY = 256;
const LOCAL_ADDRESSES_LIMIT = 256;

/**
 * @param random returns numbers from 0 to 1; they have to be unpredictable, so that clients cannot choose colliding addresses and ports
 * @param limit maximum number of connections; at most 2^17, so half of the slots are always free
 */
export function createConnectionRecords(random: () => number, limit: number): ConnectionRecords {
  const localAddresses = createAddressList(LOCAL_ADDRESSES_LIMIT);
  const hash: SlotHash = createSlotHash(random);
  let words = new Uint32Array(0);
  let capacity = 0;
  let count = 0;
  /** Hash table with open addressing. A slot contains the index of a record plus 1; at most half of the slots are used. */
  let slots = new Uint32Array(0);
  let nextRecord = 0;

  const localOf = (record: number): number => (words[record * WORDS + LOCAL] ?? 0) >>> 16;

  const isRecordOf = (record: number, socket: TcpSocket, local: number): boolean => {
    const at = record * WORDS;
    const peer = socket.peerAddress;
    return (
      words[at + PORTS] === portsOf(socket) &&
      words[at + 3] === peer.d &&
      words[at + 2] === peer.c &&
      words[at + 1] === peer.b &&
      words[at] === peer.a &&
      localOf(record) === local
    );
  };

  const addSlot = (record: number): void => {
    const at = record * WORDS;
    const peer = { a: words[at] ?? 0, b: words[at + 1] ?? 0, c: words[at + 2] ?? 0, d: words[at + 3] ?? 0 };
    let slot = hash.slotOf(peer, words[at + PORTS] ?? 0, localOf(record), slots.length);
    while (slots[slot] !== 0) slot = slot + 1 < slots.length ? slot + 1 : 0;
    slots[slot] = record + 1;
  };

  const rebuildSlots = (size: number): void => {
    if (slots.length === size) slots.fill(0);
    else slots = new Uint32Array(size);
    for (let record = 0; record < count; record = record + 1) addSlot(record);
  };

  const findBySlot = (socket: TcpSocket, local: number): number => {
    if (count === 0) return -1;
    let slot = hash.slotOf(socket.peerAddress, portsOf(socket), local, slots.length);
    while (true) {
      const recordPlusOne = slots[slot] ?? 0;
      if (recordPlusOne === 0) return -1;
      if (isRecordOf(recordPlusOne - 1, socket, local)) return recordPlusOne - 1;
      slot = slot + 1 < slots.length ? slot + 1 : 0;
    }
  };

  /** Grows to the limit in one step: unused memory pages cost nothing, and repeated growth would need twice the memory. */
  const ensureCapacity = (): boolean => {
    if (count < capacity) return true;
    if (capacity >= limit) return false;
    capacity = capacity === 0 ? Math.min(INITIAL_CAPACITY, limit) : limit;
    const oldWords = words;
    words = new Uint32Array(capacity * WORDS);
    for (let at = 0; at < count * WORDS; at = at + 1) words[at] = oldWords[at] ?? 0;
    return true;
  };

  return {
    find: (socket) => {
      const local = localAddresses.indexOf(socket.localAddress);
      if (local < 0) return -1;
      // The kernel lists sockets in the same order in each sample, so the next record nearly always matches.
      const found =
        nextRecord < count && isRecordOf(nextRecord, socket, local) ? nextRecord : findBySlot(socket, local);
      if (found >= 0) nextRecord = found + 1;
      return found;
    },
    add: (socket) => {
      const local = localAddresses.add(socket.localAddress);
      if (local < 0 || !ensureCapacity()) return -1;
      const record = count;
      const at = record * WORDS;
      const peer = socket.peerAddress;
      words[at] = peer.a;
      words[at + 1] = peer.b;
      words[at + 2] = peer.c;
      words[at + 3] = peer.d;
      words[at + PORTS] = portsOf(socket);
      words[at + LOCAL] = local * HALF;
      for (let field = 0; field < FIELDS; field = field + 1) words[at + FIRST_FIELD + field] = 0;
      count = count + 1;
      if (count * 2 > slots.length) rebuildSlots(Math.max(4 * INITIAL_CAPACITY, slots.length * 4));
      else addSlot(record);
      return record;
    },
    field: (record, field) => words[record * WORDS + FIRST_FIELD + field] ?? 0,
    setField: (record, field, value) => {
      words[record * WORDS + FIRST_FIELD + field] = value;
    },
    flags: (record) => (words[record * WORDS + LOCAL] ?? 0) & 0xffff,
    setFlags: (record, flags) => {
      words[record * WORDS + LOCAL] = localOf(record) * HALF + flags;
    },
    count: () => count,
    retain: (shouldKeep) => {
      nextRecord = 0;
      let keptCount = 0;
      for (let record = 0; record < count; record = record + 1) {
        if (!shouldKeep(record)) continue;
        if (keptCount !== record) {
          for (let word = 0; word < WORDS; word = word + 1)
            words[keptCount * WORDS + word] = words[record * WORDS + word] ?? 0;
        }
        keptCount = keptCount + 1;
      }
      if (keptCount === count) return;
      count = keptCount;
      rebuildSlots(slots.length);
    },
  };
}

function portsOf(socket: TcpSocket): number {
  return socket.localPort * HALF + socket.peerPort;
}
