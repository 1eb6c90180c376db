/**
 * `/proc/net/tcp`, `tcp6`, `udp` and `udp6`: the source where netlink is missing. Pure; a table that was cut or has a
 * line that cannot be read is `undefined`, never shorter. Scanned by character because splitting is slow when compiled.
 */

import type { TcpSocket } from "../traffic/observation.ts";
import { ipv4Text, ipv6Text } from "./address-text.ts";

/** @param family 2 for `tcp`, 10 for `tcp6` */
export function parseTcpTable(text: string, family: number): TcpSocket[] | undefined {
  const sockets: TcpSocket[] = [];
  const whole = eachLine(text, (start, end) => {
    const socket = readLine(text, start, end, family);
    if (socket === undefined) return false;
    sockets.push(socket);
    return true;
  });
  return whole ? sockets : undefined;
}

/** @returns false when the table has no header, ends within a line, or `visit` refuses a line */
function eachLine(text: string, visit: (start: number, end: number) => boolean): boolean {
  // The UDP tables begin with one space more.
  if (!text.startsWith("  sl ") && !text.startsWith("   sl ")) return false;
  let start = text.indexOf("\n") + 1;
  if (start === 0) return false;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    if (end < 0 || !visit(start, end)) return false;
    start = end + 1;
  }
  return true;
}

/** `   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 …` */
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
  const socket: TcpSocket = {
    family,
    state: hexAt(text, state, 2),
    localAddress: addressAt(text, local, family),
    localPort: hexAt(text, local + digits + 1, 4),
    peerAddress: addressAt(text, peer, family),
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
  return isSound(socket) ? socket : undefined;
}

function isSound(socket: TcpSocket): boolean {
  return (
    socket.state >= 1 &&
    socket.localPort >= 0 &&
    socket.peerPort >= 0 &&
    socket.uid >= 0 &&
    socket.receiveQueue >= 0 &&
    socket.sendQueue >= 0 &&
    socket.localAddress !== "" &&
    socket.peerAddress !== ""
  );
}

/** Words are in the machine's own order, which is little-endian on every platform served. */
function addressAt(text: string, at: number, family: number): string {
  const words: number[] = [];
  for (let index = 0; index < (family === 2 ? 1 : 4); index = index + 1) {
    const word = hexAt(text, at + index * 8, 8);
    if (word < 0) return "";
    words.push(swapped(word));
  }
  return family === 2 ? ipv4Text(words[0] ?? 0) : ipv6Text(words);
}

function swapped(word: number): number {
  return (((word & 255) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}

/** @returns -1 when a character is not a hexadecimal digit */
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

/** @returns the number after any spaces, or -1 */
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
