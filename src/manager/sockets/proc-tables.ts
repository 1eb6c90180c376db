/**
 * Parses `/proc/net/tcp` and `tcp6`, the fallback for netlink, and `udp` and `udp6`. A truncated table and a table with an invalid line
 * are incomplete. Scans characters, because splitting text is slow in the native build. Pure.
 */
import { type Address, ipv4Address } from "./address-text.ts";
import type { TcpSocket } from "./reading.ts";

type TableReader = {
  /** @returns false if no more pieces are needed */
  readonly addPiece: (piece: string) => boolean;
  /** @returns whether all needed lines were complete and valid */
  readonly end: () => boolean;
};

/**
 * @param family 2 (IPv4) for `tcp` and `udp`, 10 (IPv6) for `tcp6` and `udp6`
 * @param onSocket receives every socket; returns false if no more sockets are needed
 */
export function createTableReader(family: number, onSocket: (socket: TcpSocket) => boolean): TableReader {
  let rest = "";
  let hasHeader = false;
  let state: "reading" | "enough" | "broken" = "reading";

  const handleLine = (text: string, start: number, end: number): void => {
    if (!hasHeader) {
      // The header of UDP tables starts with one more space.
      hasHeader = text.startsWith("  sl ", start) || text.startsWith("   sl ", start);
      if (!hasHeader) state = "broken";
      return;
    }
    const socket = readLine(text, start, end, family);
    if (socket === undefined) state = "broken";
    else if (!onSocket(socket)) state = "enough";
  };

  return {
    addPiece: (piece) => {
      const text = rest === "" ? piece : `${rest}${piece}`;
      let start = 0;
      while (state === "reading") {
        const end = text.indexOf("\n", start);
        if (end < 0) break;
        handleLine(text, start, end);
        start = end + 1;
      }
      rest = text.slice(start);
      if (rest.length > LINE_LIMIT_CHARACTERS) state = "broken";
      return state === "reading";
    },
    end: () => state === "enough" || (state === "reading" && hasHeader && rest === ""),
  };
}

/** Several times the length of the kernel's longest line. */
const LINE_LIMIT_CHARACTERS = 1_024;

/** Parses a line such as `   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 …` */
function readLine(text: string, start: number, end: number, family: number): TcpSocket | undefined {
  const digits = family === 2 ? 8 : 32;
  const local = text.indexOf(": ", start) + 2;
  const peer = local + digits + 6;
  const state = peer + digits + 6;
  const queues = state + 3;
  if (local < 2 || queues + 48 > end) return undefined;
  if (text.charAt(local + digits) !== ":" || text.charAt(peer + digits) !== ":" || text.charAt(queues + 8) !== ":") {
    return undefined;
  }
  const localAddress = addressAt(text, local, family);
  const peerAddress = addressAt(text, peer, family);
  if (localAddress === undefined || peerAddress === undefined) return undefined;
  const socket: TcpSocket = {
    family,
    state: hexAt(text, state, 2),
    localAddress,
    localPort: hexAt(text, local + digits + 1, 4),
    peerAddress,
    peerPort: hexAt(text, peer + digits + 1, 4),
    uid: decimalAfter(text, queues + 39, end),
    receiveQueue: hexAt(text, queues + 9, 8),
    sendQueue: hexAt(text, queues, 8),
    lastDataSentMs: -1,
    lastDataReceivedMs: -1,
    lastAckReceivedMs: -1,
    bytesReceived: -1,
    dataSegmentsReceived: -1,
    dataSegmentsSent: -1,
    pureAcksSent: -1,
  };
  return isValid(socket) ? socket : undefined;
}

function isValid(socket: TcpSocket): boolean {
  return (
    socket.state >= 1 &&
    socket.localPort >= 0 &&
    socket.peerPort >= 0 &&
    socket.uid >= 0 &&
    socket.receiveQueue >= 0 &&
    socket.sendQueue >= 0
  );
}

/** The kernel prints words in host byte order, which is little-endian on all supported platforms. */
function addressAt(text: string, at: number, family: number): Address | undefined {
  const a = hexAt(text, at, 8);
  if (family === 2) return a < 0 ? undefined : ipv4Address(swapBytes(a));
  const b = hexAt(text, at + 8, 8);
  const c = hexAt(text, at + 16, 8);
  const d = hexAt(text, at + 24, 8);
  if (a < 0 || b < 0 || c < 0 || d < 0) return undefined;
  return { a: swapBytes(a), b: swapBytes(b), c: swapBytes(c), d: swapBytes(d) };
}

function swapBytes(word: number): number {
  return (((word & 255) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}

function hexAt(text: string, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index = index + 1) {
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 70) return code - 55;
  if (code >= 97 && code <= 102) return code - 87;
  return -1;
}

function decimalAfter(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text.charCodeAt(at) === 32) at = at + 1;
  let value = -1;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) break;
    value = (value < 0 ? 0 : value * 10) + code - 48;
    at = at + 1;
  }
  return value;
}
