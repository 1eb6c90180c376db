/** Asks the kernel for every TCP socket of the network namespace; needs no privilege. */

import type { Libc } from "../ports.ts";
import type { TcpSocket } from "../traffic/observation.ts";
import { dumpRequest, REQUEST_BYTES, readPart } from "./netlink-message.ts";

export type Dump =
  | { readonly kind: "whole"; readonly sockets: readonly TcpSocket[] }
  /** The answer exists but cannot be trusted. */
  | { readonly kind: "inconsistent" }
  /** Not to be had here. */
  | { readonly kind: "missing" };

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

/**
 * @param family 2 or 10
 * @param tracesMs connections that ended longer ago are left out
 */
export function dumpTcp(libc: Libc, family: number, tracesMs: number): Dump {
  if (!libc.available) return { kind: "missing" };
  const fd = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return { kind: "missing" };
  const timeout = Buffer.alloc(16);
  timeout.writeUInt32LE(RECEIVE_TIMEOUT_MICROSECONDS, 8);
  libc.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, timeout);
  const sent = libc.send(fd, dumpRequest(family, SEQUENCE), 0);
  const dump = sent === REQUEST_BYTES ? receive(libc, fd, tracesMs) : missing();
  libc.close(fd);
  return dump;
}

function receive(libc: Libc, fd: number, tracesMs: number): Dump {
  const sockets: TcpSocket[] = [];
  const part = Buffer.alloc(PART_BYTES);
  for (let count = 0; count < PARTS_LIMIT; count = count + 1) {
    const length = libc.recv(fd, part, MSG_TRUNC);
    if (length <= 0) return missing();
    const end = readPart(part, length, SEQUENCE, { sockets, tracesMs });
    if (end === "done") return { kind: "whole", sockets };
    if (end === "refused") return missing();
    if (end !== "more") return { kind: "inconsistent" };
  }
  return { kind: "inconsistent" };
}

function missing(): Dump {
  return { kind: "missing" };
}
