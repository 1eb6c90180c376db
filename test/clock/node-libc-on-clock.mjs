/**
 * Node's C library for the manager, with the ages of sockets on the clock that the test moves. The kernel counts them by its
 * own clock, so they are made here from its counters: what has grown since the last step grew at the time of that step.
 * `native-ages.c` is the same for the native build.
 */
import { loadNodeLibc as loadRealLibc } from "../../src/manager/node-libc.ts";

const clock = globalThis.lastcallTestClock;

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_DIAG = 4;
const FAMILIES = [2, 10];
const PART_BYTES = 32_768;
const DIAG_MESSAGE = 20;
const DIAG_BYTES = 72;
const ENDS = [2, 3];
const TIME_WAIT = { state: 6, timer: 3, lastsMs: 60_000 };
const INFO = 2;
/** The kernel may leave out a socket that stands beside one that goes, so one that is missing is kept for some steps. */
const MOST_MISSING = 8;

/** A socket's counters at the last step, and when each of them last grew, by its cookie. */
const known = new Map();

/** @returns where the tcp_info of a socket starts, or -1 where it has none */
function infoOf(bytes, at, end) {
  for (let part = at + DIAG_BYTES; part + 4 <= end; ) {
    const size = bytes.readUInt16LE(part);
    if (size < 4 || part + size > end) return -1;
    if (bytes.readUInt16LE(part + 2) === INFO && size >= 4 + 160) return part + 4;
    part += (size + 3) & ~3;
  }
  return -1;
}

function learn(bytes, at, info) {
  const nowMs = clock.nowMs();
  const cookie = bytes.readBigUInt64LE(at + 44);
  const counter = (field) => (info < 0 ? 0 : bytes.readUInt32LE(info + field));
  const is = { cookie, segments: counter(140), received: counter(152), sent: counter(156), missing: 0 };
  Object.assign(is, { sentMs: nowMs, receivedMs: nowMs, ackMs: nowMs });
  const was = known.get(cookie);
  if (was === undefined) return is;
  if (is.sent === was.sent) is.sentMs = was.sentMs;
  if (is.received === was.received) {
    is.receivedMs = was.receivedMs;
    // An acknowledgement that the kernel put off by its own clock counts with what it acknowledges.
    is.ackMs = is.segments === was.segments || was.ackMs > is.sentMs ? was.ackMs : is.sentMs;
  }
  return is;
}

function remember(bytes, at, end) {
  const is = learn(bytes, at, infoOf(bytes, at, end));
  known.set(is.cookie, is);
}

function translate(bytes, at, end) {
  const info = infoOf(bytes, at, end);
  const is = learn(bytes, at, info);
  const age = (sinceMs) => Math.trunc(clock.nowMs() - sinceMs);
  if (bytes[at + 1] === TIME_WAIT.state && bytes[at + 2] === TIME_WAIT.timer)
    bytes.writeUInt32LE(Math.max(0, TIME_WAIT.lastsMs - age(is.ackMs)), at + 52);
  if (info < 0) return;
  bytes.writeUInt32LE(age(is.sentMs), info + 44);
  bytes.writeUInt32LE(age(is.receivedMs), info + 52);
  bytes.writeUInt32LE(age(is.ackMs), info + 56);
}

/** @returns whether the answer is over */
function eachSocket(bytes, length, visit) {
  for (let at = 0; at + 16 <= length; ) {
    const size = bytes.readUInt32LE(at);
    const type = bytes.readUInt16LE(at + 4);
    if (size < 16 || at + size > length || ENDS.includes(type)) return true;
    if (type === DIAG_MESSAGE && size >= 16 + DIAG_BYTES) visit(bytes, at + 16, at + size);
    at += (size + 3) & ~3;
  }
  return false;
}

/** All sockets of TCP with their tcp_info. */
function requestFor(family) {
  const bytes = Buffer.alloc(72);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt16LE(DIAG_MESSAGE, 4);
  bytes.writeUInt16LE(0x301, 6);
  bytes.set([family, 6, 2], 16);
  bytes.writeUInt32LE(0xffff_ffff, 20);
  return bytes;
}

export function loadNodeLibc() {
  const libc = loadRealLibc();
  const netlink = new Set();
  const own = libc.socket(AF_NETLINK, SOCK_RAW, SOCK_DIAG);
  const part = Buffer.alloc(PART_BYTES);

  // Where there is no netlink there are no ages either.
  if (own >= 0)
    clock.beforeStep = () => {
      for (const socket of known.values()) socket.missing += 1;
      for (const family of FAMILIES) {
        libc.send(own, requestFor(family), 0);
        for (let over = false; !over; ) {
          const length = libc.recv(own, part, 0);
          over = length <= 0 || eachSocket(part, length, remember);
        }
      }
      for (const [cookie, { missing }] of known) if (missing > MOST_MISSING) known.delete(cookie);
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
    recv: (fd, bytes, flags) => {
      const length = libc.recv(fd, bytes, flags);
      if (netlink.has(fd)) eachSocket(bytes, Math.min(length, bytes.length), translate);
      return length;
    },
  };
}
