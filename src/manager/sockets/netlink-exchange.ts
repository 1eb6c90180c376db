/**
 * Dumps the TCP sockets of the network namespace by netlink (sock_diag), which does not need privileges. Streams the sockets, so it
 * needs only the memory of one datagram.
 *
 * @see https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/inet_diag.h
 */
import type { Libc } from "../ports.ts";
import { readDatagram, SOCK_DIAG_BY_FAMILY, type SocketReceiver } from "./netlink-message.ts";
import { LISTEN } from "./tcp-states.ts";

/** `inconsistent`: the dump may be incomplete. `missing`: netlink is not available. */
export type DumpEnd = "whole" | "inconsistent" | "missing";

export const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 + 0x80000;
const NETLINK_SOCK_DIAG = 4;
export const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
/** The kernel responds at once. The limit is short, because a blocked call would block all of the manager's responses. */
const RECEIVE_TIMEOUT_MICROSECONDS = 200_000;
/** Makes recv return the full length of a truncated message. */
const MSG_TRUNC = 0x20;
const DATAGRAM_BYTES = 32_768;
/** Ends an endless dump. Every socket table fits into fewer datagrams. */
const DATAGRAMS_LIMIT = 20_000;
const SEQUENCE = 1;

export function dumpTcp(libc: Libc, filter: DumpFilter, receiver: SocketReceiver): DumpEnd {
  if (!libc.available) return "missing";
  const fd = openDiagnostics(libc);
  if (fd < 0) return "missing";
  const timeout = Buffer.alloc(16);
  timeout.writeUInt32LE(RECEIVE_TIMEOUT_MICROSECONDS, 8);
  libc.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, timeout);
  const sent = libc.send(fd, dumpRequest(filter, SEQUENCE), 0);
  const end = sent === REQUEST_BYTES ? receive(libc, fd, receiver) : "missing";
  libc.close(fd);
  return end;
}

/** @returns the descriptor of the netlink socket; -1 if the kernel does not open the socket */
export function openDiagnostics(libc: Libc): number {
  return libc.available ? libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_SOCK_DIAG) : -1;
}

function receive(libc: Libc, fd: number, receiver: SocketReceiver): DumpEnd {
  const datagram = Buffer.alloc(DATAGRAM_BYTES);
  for (let count = 0; count < DATAGRAMS_LIMIT; count = count + 1) {
    const length = libc.recv(fd, datagram, MSG_TRUNC);
    if (length <= 0) return "missing";
    const end = readDatagram(datagram, length, SEQUENCE, receiver);
    if (end === "done") return "whole";
    if (end === "refused") return "missing";
    if (end !== "more") return "inconsistent";
  }
  return "inconsistent";
}

/** Length of the message header, inet_diag_req_v2, and a filter attribute. */
export const REQUEST_BYTES = 88;
const FILTER_OFFSET = 72;
const FILTER_BYTES = 16;
/** INET_DIAG_REQ_BYTECODE: a program of four-byte operations, each with one jump distance for true and one for false. */
const FILTER_ATTRIBUTE = 1;
/** INET_DIAG_BC_S_EQ: compares the local port with the port in the next four bytes. */
const LOCAL_PORT_EQUALS = 11;
/** INET_DIAG_BC_JMP: always takes the jump for false. */
const JUMP = 1;
const OPERATION_BYTES = 4;

const REQUEST_AND_DUMP = 0x301;
const PROTOCOL_TCP = 6;
/** The bit that requests the attribute INET_DIAG_INFO. */
const WITH_TCP_INFO = 2;

export const LISTENERS = 1 << LISTEN;
export const ALL_BUT_LISTENERS = 0xfff & ~LISTENERS;

/** `exceptPort`: the kernel omits connections of this local port, the manager's, which costs less than skipping them here. */
export type DumpFilter = { readonly family: number; readonly states: number; readonly exceptPort: number };

export function dumpRequest({ family, states, exceptPort }: DumpFilter, sequence: number): Buffer {
  const bytes = Buffer.alloc(REQUEST_BYTES);
  bytes.writeUInt32LE(REQUEST_BYTES, 0);
  bytes.writeUInt16LE(SOCK_DIAG_BY_FAMILY, 4);
  bytes.writeUInt16LE(REQUEST_AND_DUMP, 6);
  bytes.writeUInt32LE(sequence, 8);
  bytes.writeUInt8(family, 16);
  bytes.writeUInt8(PROTOCOL_TCP, 17);
  bytes.writeUInt8(WITH_TCP_INFO, 18);
  bytes.writeUInt32LE(states, 20);
  bytes.writeUInt16LE(FILTER_BYTES, FILTER_OFFSET);
  bytes.writeUInt16LE(FILTER_ATTRIBUTE, FILTER_OFFSET + 2);
  // The kernel accepts a socket if the program jumps exactly to its end, and rejects a socket if it jumps past its end.
  bytes.writeUInt8(LOCAL_PORT_EQUALS, FILTER_OFFSET + 4);
  bytes.writeUInt8(2 * OPERATION_BYTES, FILTER_OFFSET + 5);
  bytes.writeUInt16LE(3 * OPERATION_BYTES, FILTER_OFFSET + 6);
  bytes.writeUInt16LE(exceptPort, FILTER_OFFSET + 10);
  bytes.writeUInt8(JUMP, FILTER_OFFSET + 12);
  bytes.writeUInt8(OPERATION_BYTES, FILTER_OFFSET + 13);
  bytes.writeUInt16LE(2 * OPERATION_BYTES, FILTER_OFFSET + 14);
  return bytes;
}
