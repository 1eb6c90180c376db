/**
 * Asks the kernel for the TCP sockets of the network namespace; needs no privilege. Every socket is handed on as it is
 * read, so that a Pod with a hundred thousand of them costs one part of an answer.
 *
 * @see https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/inet_diag.h
 */
import type { Libc } from "../ports.ts";
import { readPart, SOCK_DIAG_BY_FAMILY, type SocketTaker } from "./netlink-message.ts";
import { LISTEN } from "./tcp-states.ts";

/** `inconsistent`: what was handed on is not all, or cannot be trusted to be. `missing`: not to be had here. */
export type DumpEnd = "whole" | "inconsistent" | "missing";

const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 + 0x80000;
const NETLINK_SOCK_DIAG = 4;
const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
/** Longest wait for a part. The kernel answers at once; a blocked call would block every hold. */
const RECEIVE_TIMEOUT_MICROSECONDS = 200_000;
/** Makes recv answer the true length of a message that was cut. */
const MSG_TRUNC = 0x20;
/** The kernel never sends a larger part. */
const PART_BYTES = 32_768;
/** More than any table that fits a Pod's memory; stops a dump that never ends. */
const PARTS_LIMIT = 20_000;
const SEQUENCE = 1;

export function dumpTcp(libc: Libc, wish: DumpWish, to: SocketTaker): DumpEnd {
  if (!libc.available) return "missing";
  const fd = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return "missing";
  const timeout = Buffer.alloc(16);
  timeout.writeUInt32LE(RECEIVE_TIMEOUT_MICROSECONDS, 8);
  libc.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, timeout);
  const sent = libc.send(fd, dumpRequest(wish, SEQUENCE), 0);
  const end = sent === REQUEST_BYTES ? receive(libc, fd, to) : "missing";
  libc.close(fd);
  return end;
}

function receive(libc: Libc, fd: number, to: SocketTaker): DumpEnd {
  const part = Buffer.alloc(PART_BYTES);
  for (let count = 0; count < PARTS_LIMIT; count = count + 1) {
    const length = libc.recv(fd, part, MSG_TRUNC);
    if (length <= 0) return "missing";
    const end = readPart(part, length, SEQUENCE, to);
    if (end === "done") return "whole";
    if (end === "refused") return "missing";
    if (end !== "more") return "inconsistent";
  }
  return "inconsistent";
}

/** Bytes of a dump request: message header, inet_diag_req_v2, and a condition as an attribute. */
export const REQUEST_BYTES = 88;
const CONDITION_AT = 72;
const CONDITION_BYTES = 16;
/** INET_DIAG_REQ_BYTECODE: operations of four bytes, each with how far to go on if it is true and if it is not. */
const CONDITION = 1;
/** INET_DIAG_BC_S_EQ: the local port is the one that the next operation names. */
const LOCAL_PORT_IS = 11;
/** INET_DIAG_BC_JMP: never true. */
const JUMP = 1;
const OPERATION = 4;

const REQUEST_AND_DUMP = 0x301;
const PROTOCOL_TCP = 6;
/** Bit of attribute INET_DIAG_INFO. */
const WITH_TCP_INFO = 2;

/** Bits by the kernel's numbers of states. */
export const LISTENERS = 1 << LISTEN;
export const ALL_BUT_LISTENERS = 0xfff & ~LISTENERS;

/** `exceptPort`: the manager's own, whose strangers the kernel can leave out for less than it takes to read about them. */
export type DumpWish = { readonly family: number; readonly states: number; readonly exceptPort: number };

/**
 * @param wish `states`: whose sockets are wanted, a bit each
 * @param sequence comes back in every answer
 */
export function dumpRequest({ family, states, exceptPort }: DumpWish, sequence: number): Buffer {
  const bytes = Buffer.alloc(REQUEST_BYTES);
  bytes.writeUInt32LE(REQUEST_BYTES, 0);
  bytes.writeUInt16LE(SOCK_DIAG_BY_FAMILY, 4);
  bytes.writeUInt16LE(REQUEST_AND_DUMP, 6);
  bytes.writeUInt32LE(sequence, 8);
  bytes.writeUInt8(family, 16);
  bytes.writeUInt8(PROTOCOL_TCP, 17);
  bytes.writeUInt8(WITH_TCP_INFO, 18);
  bytes.writeUInt32LE(states, 20);
  bytes.writeUInt16LE(CONDITION_BYTES, CONDITION_AT);
  bytes.writeUInt16LE(CONDITION, CONDITION_AT + 2);
  // A socket is shown where the condition ends with its bytes, and left out where it goes beyond them.
  bytes.writeUInt8(LOCAL_PORT_IS, CONDITION_AT + 4);
  bytes.writeUInt8(2 * OPERATION, CONDITION_AT + 5);
  bytes.writeUInt16LE(3 * OPERATION, CONDITION_AT + 6);
  bytes.writeUInt16LE(exceptPort, CONDITION_AT + 10);
  bytes.writeUInt8(JUMP, CONDITION_AT + 12);
  bytes.writeUInt8(OPERATION, CONDITION_AT + 13);
  bytes.writeUInt16LE(2 * OPERATION, CONDITION_AT + 14);
  return bytes;
}
