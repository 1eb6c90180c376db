/**
 * Parses netlink messages of sock_diag, and checks every length in them. Pure.
 *
 * @see https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/inet_diag.h
 */
import { type Address, ipv4Address } from "./address-text.ts";
import type { TcpSocket } from "./reading.ts";
import { LISTEN, TIME_WAIT } from "./tcp-states.ts";

export const SOCK_DIAG_BY_FAMILY = 20;

export const AF_INET = 2;
export const AF_INET6 = 10;

/**
 * `more`: another datagram follows. `done`: the dump is complete. `inconsistent`: the table changed during the dump. `refused`: the
 * kernel does not support the request. `garbled`: the bytes are not a response to this request.
 */
export type DatagramEnd = "more" | "done" | "inconsistent" | "refused" | "garbled";

const HEADER_BYTES = 16;
const DIAG_BYTES = 72;
const MESSAGE_NOOP = 1;
const MESSAGE_ERROR = 2;
const MESSAGE_DONE = 3;
const FLAG_DUMP_INTERRUPTED = 0x10;

export type SocketReceiver = {
  readonly onSocket: (socket: TcpSocket) => void;
  /** Maximum age in ms of TIME_WAIT entries; older ones are omitted. */
  readonly timeWaitLimitMs: number;
};

/** @param length length of the datagram; if larger than `bytes`, the datagram was truncated and is `garbled` */
export function readDatagram(bytes: Buffer, length: number, sequence: number, receiver: SocketReceiver): DatagramEnd {
  if (length < HEADER_BYTES || length > bytes.length) return "garbled";
  let at = 0;
  while (at < length) {
    if (at + HEADER_BYTES > length) return "garbled";
    const size = bytes.readUInt32LE(at);
    if (size < HEADER_BYTES || at + size > length || bytes.readUInt32LE(at + 8) !== sequence) return "garbled";
    const end = readMessage(bytes, at, size, receiver);
    if (end !== "more") return end;
    at = at + aligned(size);
  }
  return "more";
}

function readMessage(bytes: Buffer, at: number, size: number, receiver: SocketReceiver): DatagramEnd {
  const type = bytes.readUInt16LE(at + 4);
  if ((bytes.readUInt16LE(at + 6) & FLAG_DUMP_INTERRUPTED) !== 0) return "inconsistent";
  if (type === MESSAGE_DONE) return "done";
  if (type === MESSAGE_ERROR) return "refused";
  if (type === MESSAGE_NOOP) return "more";
  if (type !== SOCK_DIAG_BY_FAMILY || size < HEADER_BYTES + DIAG_BYTES) return "garbled";
  const family = bytes.readUInt8(at + HEADER_BYTES);
  if (family !== AF_INET && family !== AF_INET6) return "garbled";
  // Skips old TIME_WAIT entries: a busy server has tens of thousands of them, and earlier samples have counted them.
  const endedAgoMs = timeWaitAgeMs(bytes, at + HEADER_BYTES, bytes.readUInt8(at + HEADER_BYTES + 1));
  if (endedAgoMs <= receiver.timeWaitLimitMs) receiver.onSocket(readSocket(bytes, at + HEADER_BYTES, at + size));
  return "more";
}

/** Offsets in struct tcp_info, which is shorter in older kernels. */
const INFO_LAST_SENT = 44;
const INFO_LAST_RECEIVED = 52;
const INFO_LAST_ACK = 56;
const INFO_AGES_END = 60;
const INFO_BYTES_RECEIVED = 128;
const INFO_BYTES_END = 136;
const INFO_SEGMENTS_SENT = 136;
const INFO_DATA_SEGMENTS_RECEIVED = 152;
const INFO_DATA_SEGMENTS_SENT = 156;
const INFO_SEGMENTS_END = 160;

function readSocket(bytes: Buffer, at: number, end: number): TcpSocket {
  const family = bytes.readUInt8(at);
  const state = bytes.readUInt8(at + 1);
  const info = state === LISTEN ? -1 : findInfo(bytes, at + DIAG_BYTES, end);
  const length = info >= 0 ? infoLength(bytes, info) : 0;
  const hasAges = length >= INFO_AGES_END;
  const hasByteCount = length >= INFO_BYTES_END;
  const hasSegments = length >= INFO_SEGMENTS_END;
  const segmentsSent = hasSegments ? bytes.readUInt32LE(info + 4 + INFO_DATA_SEGMENTS_SENT) : -1;
  return {
    family,
    state,
    localAddress: addressAt(bytes, at + 8, family),
    localPort: bytes.readUInt16BE(at + 4),
    peerAddress: addressAt(bytes, at + 24, family),
    peerPort: bytes.readUInt16BE(at + 6),
    uid: bytes.readUInt32LE(at + 64),
    receiveQueue: bytes.readUInt32LE(at + 56),
    sendQueue: bytes.readUInt32LE(at + 60),
    lastDataSentMs: hasAges ? bytes.readUInt32LE(info + 4 + INFO_LAST_SENT) : -1,
    lastDataReceivedMs: hasAges ? bytes.readUInt32LE(info + 4 + INFO_LAST_RECEIVED) : -1,
    lastAckReceivedMs: hasAges ? bytes.readUInt32LE(info + 4 + INFO_LAST_ACK) : timeWaitAgeMs(bytes, at, state),
    bytesReceived: hasByteCount
      ? bytes.readUInt32LE(info + 4 + INFO_BYTES_RECEIVED) +
        bytes.readUInt32LE(info + 4 + INFO_BYTES_RECEIVED + 4) * 4_294_967_296
      : -1,
    dataSegmentsReceived: hasSegments ? bytes.readUInt32LE(info + 4 + INFO_DATA_SEGMENTS_RECEIVED) : -1,
    dataSegmentsSent: segmentsSent,
    // Unsigned, because the counters wrap.
    pureAcksSent: hasSegments ? (bytes.readUInt32LE(info + 4 + INFO_SEGMENTS_SENT) - segmentsSent) >>> 0 : -1,
  };
}

const TIMER_OF_TIME_WAIT = 3;
/** TCP_TIMEWAIT_LEN, a constant of Linux. */
const TIME_WAIT_MS = 60_000;

function timeWaitAgeMs(bytes: Buffer, at: number, state: number): number {
  if (state !== TIME_WAIT || bytes.readUInt8(at + 2) !== TIMER_OF_TIME_WAIT) return -1;
  const leftMs = bytes.readUInt32LE(at + 52);
  return leftMs <= TIME_WAIT_MS ? TIME_WAIT_MS - leftMs : -1;
}

const ATTRIBUTE_INFO = 2;

function findInfo(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at + 4 <= end) {
    const size = infoLength(bytes, at) + 4;
    if (size < 4 || at + size > end) return -1;
    if (bytes.readUInt16LE(at + 2) === ATTRIBUTE_INFO) return at;
    at = at + aligned(size);
  }
  return -1;
}

function infoLength(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at) - 4;
}

function addressAt(bytes: Buffer, at: number, family: number): Address {
  if (family === AF_INET) return ipv4Address(bytes.readUInt32BE(at));
  return {
    a: bytes.readUInt32BE(at),
    b: bytes.readUInt32BE(at + 4),
    c: bytes.readUInt32BE(at + 8),
    d: bytes.readUInt32BE(at + 12),
  };
}

function aligned(size: number): number {
  return (size + 3) & ~3;
}
