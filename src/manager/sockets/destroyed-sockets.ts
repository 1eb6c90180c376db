/**
 * Subscribes to the kernel's notifications of destroyed sockets (netlink multicast of sock_diag), which does not need privileges. The
 * kernel queues the notifications, so they are read only when the manager exits.
 *
 * @see https://github.com/torvalds/linux/blob/v6.12/net/core/sock_diag.c
 */
import type { Libc } from "../ports.ts";
import { AF_NETLINK, openDiagnostics, SOL_SOCKET } from "./netlink-exchange.ts";
import { readDatagram, type SocketReceiver } from "./netlink-message.ts";
import type { TcpSocket } from "./reading.ts";

export type DestroyedSockets = {
  /** Subscribes to the notifications. The queue is empty afterwards. */
  readonly start: () => void;
  /** Empties the queue. @returns false if the queue did not have all sockets that were destroyed since the last call */
  readonly readAll: (onSocket: (socket: TcpSocket) => void) => boolean;
};

const SOCKADDR_NL_BYTES = 12;
const SO_RCVBUF = 8;
/** About 330 sockets per 416 KiB, the default limit of the kernel (net.core.rmem_max). */
const QUEUE_BYTES = 4_194_304;
const SOL_NETLINK = 270;
const NETLINK_ADD_MEMBERSHIP = 1;
/** SKNLGRP_INET_TCP_DESTROY and SKNLGRP_INET6_TCP_DESTROY. */
const GROUPS: readonly number[] = [1, 3];
/** MSG_DONTWAIT, and MSG_TRUNC for the full length of a truncated message. */
const DONTWAIT_TRUNC = 0x40 + 0x20;
const DATAGRAM_BYTES = 4_096;
const MULTICAST_SEQUENCE = 0;
/** Ends the reading if clients open and close connections faster than they can be read. The queue has space for fewer messages. */
const READS_LIMIT = 20_000;

export function createDestroyedSockets(libc: Libc): DestroyedSockets {
  let fd = -1;

  const close = (): void => {
    if (fd >= 0) libc.close(fd);
    fd = -1;
  };

  return {
    start: () => {
      close();
      fd = openDiagnostics(libc);
      if (fd >= 0 && !subscribe(libc, fd)) close();
    },
    readAll: (onSocket) => fd >= 0 && drainQueue(libc, fd, { onSocket, timeWaitLimitMs: 0 }),
  };
}

function subscribe(libc: Libc, fd: number): boolean {
  const address = Buffer.alloc(SOCKADDR_NL_BYTES);
  address.writeUInt16LE(AF_NETLINK, 0);
  // Connecting assigns the port id, without which the kernel does not deliver multicast messages.
  if (libc.connect(fd, address) < 0) return false;
  libc.setsockopt(fd, SOL_SOCKET, SO_RCVBUF, uint32(QUEUE_BYTES));
  return GROUPS.every((group) => libc.setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, uint32(group)) === 0);
}

/** An error followed by data is ENOBUFS: the queue was full. An error followed by an error is EAGAIN: the queue is empty. */
function drainQueue(libc: Libc, fd: number, receiver: SocketReceiver): boolean {
  const datagram = Buffer.alloc(DATAGRAM_BYTES);
  let isComplete = true;
  let hasFailed = false;
  for (let count = 0; count < READS_LIMIT; count = count + 1) {
    const length = libc.recv(fd, datagram, DONTWAIT_TRUNC);
    if (length <= 0 && hasFailed) return isComplete;
    if (length > 0) {
      if (hasFailed || readDatagram(datagram, length, MULTICAST_SEQUENCE, receiver) !== "more") isComplete = false;
    }
    hasFailed = length <= 0;
  }
  return false;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}
