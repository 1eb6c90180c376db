/**
 * Wraps the manager's C library on Node and computes socket ages on the test clock, because the kernel uses its own clock.
 * A counter that increased since the last step is dated at that step. `native-ages.c` does the same in the native build.
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
const END_TYPES = [2, 3];
const TIME_WAIT = { state: 6, timer: 3, durationMs: 60_000 };
const INET_DIAG_INFO = 2;
/**
 * The kernel can omit a socket if another one in its hash bucket closes during the read, so a missing socket is kept for some
 * steps.
 */
const MAX_MISSING_STEPS = 8;

/** Each socket's counters at the last step, and the time at which each counter last increased; by the socket's cookie. */
const trackedSockets = new Map();

/** @returns the offset of a socket's tcp_info, or -1 if the message has none */
function infoOf(bytes, at, end) {
  for (let part = at + DIAG_BYTES; part + 4 <= end; ) {
    const size = bytes.readUInt16LE(part);
    if (size < 4 || part + size > end) return -1;
    if (bytes.readUInt16LE(part + 2) === INET_DIAG_INFO && size >= 4 + 160) return part + 4;
    part += (size + 3) & ~3;
  }
  return -1;
}

function agesOf(bytes, at, info) {
  const nowMs = clock.nowMs();
  const cookie = bytes.readBigUInt64LE(at + 44);
  const counter = (field) => (info < 0 ? 0 : bytes.readUInt32LE(info + field));
  const is = { cookie, segments: counter(140), received: counter(152), sent: counter(156), missingSteps: 0 };
  Object.assign(is, { sentMs: nowMs, receivedMs: nowMs, ackMs: nowMs });
  const was = trackedSockets.get(cookie);
  if (was === undefined) return is;
  if (is.sent === was.sent) is.sentMs = was.sentMs;
  if (is.received === was.received) {
    is.receivedMs = was.receivedMs;
    // The kernel delays acknowledgements by its own clock, so a late one gets the time of the data that it acknowledges.
    is.ackMs = is.segments === was.segments || was.ackMs > is.sentMs ? was.ackMs : is.sentMs;
  }
  return is;
}

function recordSocket(bytes, at, end) {
  const is = agesOf(bytes, at, infoOf(bytes, at, end));
  trackedSockets.set(is.cookie, is);
}

function replaceAges(bytes, at, end) {
  const info = infoOf(bytes, at, end);
  const is = agesOf(bytes, at, info);
  const age = (sinceMs) => Math.trunc(clock.nowMs() - sinceMs);
  if (bytes[at + 1] === TIME_WAIT.state && bytes[at + 2] === TIME_WAIT.timer)
    bytes.writeUInt32LE(Math.max(0, TIME_WAIT.durationMs - age(is.ackMs)), at + 52);
  if (info < 0) return;
  bytes.writeUInt32LE(age(is.sentMs), info + 44);
  bytes.writeUInt32LE(age(is.receivedMs), info + 52);
  bytes.writeUInt32LE(age(is.ackMs), info + 56);
}

/** @returns whether the response is complete */
function eachSocket(bytes, length, visit) {
  for (let at = 0; at + 16 <= length; ) {
    const size = bytes.readUInt32LE(at);
    const type = bytes.readUInt16LE(at + 4);
    if (size < 16 || at + size > length || END_TYPES.includes(type)) return true;
    if (type === DIAG_MESSAGE && size >= 16 + DIAG_BYTES) visit(bytes, at + 16, at + size);
    at += (size + 3) & ~3;
  }
  return false;
}

/** Requests all TCP sockets with their tcp_info. */
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
  const ownSocket = libc.socket(AF_NETLINK, SOCK_RAW, SOCK_DIAG);
  const part = Buffer.alloc(PART_BYTES);

  // Without netlink the manager reads no ages.
  if (ownSocket >= 0)
    clock.beforeStep = () => {
      for (const socket of trackedSockets.values()) socket.missingSteps += 1;
      for (const family of FAMILIES) {
        libc.send(ownSocket, requestFor(family), 0);
        for (let complete = false; !complete; ) {
          const length = libc.recv(ownSocket, part, 0);
          complete = length <= 0 || eachSocket(part, length, recordSocket);
        }
      }
      for (const [cookie, { missingSteps }] of trackedSockets) if (missingSteps > MAX_MISSING_STEPS) trackedSockets.delete(cookie);
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
      if (netlink.has(fd)) eachSocket(bytes, Math.min(length, bytes.length), replaceAges);
      return length;
    },
  };
}
