/**
 * Socket diagnostics on the wire: the question. Pure.
 *
 * @see https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/inet_diag.h
 */
import { LISTEN } from "./tcp-states.ts";

/** Of the question and of each socket in the answer. */
export const SOCK_DIAG_BY_FAMILY = 20;

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
