/**
 * Asks the kernel for the TCP sockets of the network namespace; needs no privilege. Every socket is handed on as it is
 * read, so that a Pod with a hundred thousand of them costs one part of an answer.
 */
import type { Libc } from "../ports.ts";
import { readPart, type SocketTaker } from "./netlink-message.ts";
import { type DumpWish, dumpRequest, REQUEST_BYTES } from "./netlink-request.ts";

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
