/** Node's C library for the manager, with the ages of sockets by the clock that the test moves; as `native-clock.c` has it. */
import { loadNodeLibc as loadRealLibc } from "../../src/manager/node-libc.ts";
import { lastTickMs, TICK_MS } from "./kernel-ticks.ts";

const { nowMs, steps } = globalThis.lastcallTestClock;

const AF_NETLINK = 16;
const PART_BYTES = 32_768;
const MSG_TRUNC = 0x20;
const MOST_TRIES = 10;
const DIAG_MESSAGE = 20;
const ENDS = [2, 3];
const TIME_WAIT = { state: 6, timer: 3, lastsMs: 60_000 };
const INFO = 2;
const AGE_FIELDS = [44, 48, 52, 56];

const isNow = (tickMs) => lastTickMs() - tickMs < 1.5 * TICK_MS;

export function loadNodeLibc() {
  const libc = loadRealLibc();
  const netlink = new Set();
  let madeTickMs = 0;
  let parts = [];

  const virtualAge = (ageMs) => {
    const atMs = madeTickMs - ageMs;
    let step = steps.length - 1;
    while (step > 0 && steps[step].realMs > atMs) step -= 1;
    return Math.trunc(nowMs() - steps[step].virtualMs + Math.max(0, steps[step].realMs - atMs));
  };

  const translateSocket = (bytes, at, end) => {
    const leftMs = bytes.readUInt32LE(at + 52);
    if (bytes[at + 1] === TIME_WAIT.state && bytes[at + 2] === TIME_WAIT.timer && leftMs <= TIME_WAIT.lastsMs)
      bytes.writeUInt32LE(Math.max(0, TIME_WAIT.lastsMs - virtualAge(TIME_WAIT.lastsMs - leftMs)), at + 52);
    for (let part = at + 72; part + 4 <= end; ) {
      const size = bytes.readUInt16LE(part);
      if (size < 4 || part + size > end) return;
      if (bytes.readUInt16LE(part + 2) === INFO && size >= 64)
        for (const field of AGE_FIELDS)
          bytes.writeUInt32LE(virtualAge(bytes.readUInt32LE(part + 4 + field)), part + 4 + field);
      part += (size + 3) & ~3;
    }
  };

  /** @returns whether the answer is over */
  const eachMessage = (bytes, length, translates) => {
    for (let at = 0; at + 16 <= length; ) {
      const size = bytes.readUInt32LE(at);
      const type = bytes.readUInt16LE(at + 4);
      if (size < 16 || at + size > length || ENDS.includes(type)) return true;
      if (translates && type === DIAG_MESSAGE && size >= 88) translateSocket(bytes, at + 16, at + size);
      at += (size + 3) & ~3;
    }
    return false;
  };

  /**
   * At once: each part is put together by the kernel as the one before it is read.
   *
   * @returns the parts, and whether each was made within a tick: one that took longer says less about when it was made
   */
  const readAnswer = (fd, askedTickMs) => {
    const read = [];
    let inTime = isNow(askedTickMs);
    for (let over = false, tickMs = askedTickMs; !over; ) {
      const bytes = Buffer.alloc(PART_BYTES);
      const nextTickMs = lastTickMs();
      const length = libc.recv(fd, bytes, MSG_TRUNC);
      inTime = inTime && isNow(nextTickMs);
      read.push({ bytes, length, tickMs });
      tickMs = nextTickMs;
      over = length <= 0 || length > PART_BYTES || eachMessage(bytes, length, false);
    }
    return { read, inTime };
  };

  return {
    ...libc,
    socket: (domain, type, protocol) => {
      const fd = libc.socket(domain, type, protocol);
      if (domain === AF_NETLINK) netlink.add(fd);
      return fd;
    },
    close: (fd) => {
      netlink.delete(fd);
      return libc.close(fd);
    },
    send: (fd, bytes, flags) => {
      if (!netlink.has(fd)) return libc.send(fd, bytes, flags);
      let sent = -1;
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const askedTickMs = lastTickMs();
        sent = libc.send(fd, bytes, flags);
        if (sent < 0) return sent;
        const answer = readAnswer(fd, askedTickMs);
        parts = answer.read;
        if (answer.inTime) break;
      }
      return sent;
    },
    recv: (fd, bytes, flags) => {
      const part = netlink.has(fd) ? parts.shift() : undefined;
      if (part === undefined) return libc.recv(fd, bytes, flags);
      part.bytes.copy(bytes);
      madeTickMs = part.tickMs;
      eachMessage(bytes, Math.min(part.length, bytes.length), true);
      return part.length;
    },
  };
}
