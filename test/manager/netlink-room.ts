/** Builds netlink messages, and a C library that replays them. */
import type { Libc } from "../../src/manager/ports.ts";

export type SocketFields = {
  readonly family?: number;
  readonly state?: number;
  readonly timer?: number;
  readonly expiresMs?: number;
  readonly localPort?: number;
  readonly peerPort?: number;
  readonly local?: readonly number[];
  readonly peer?: readonly number[];
  readonly uid?: number;
  readonly receiveQueue?: number;
  readonly sendQueue?: number;
  /** The bytes of tcp_info; if absent, the message contains no tcp_info. */
  readonly info?: Buffer;
};

export function message(type: number, body: Buffer, flags = 2, sequence = 1): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32LE(16 + body.length, 0);
  head.writeUInt16LE(type, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt32LE(sequence, 8);
  return Buffer.concat([head, body]);
}

export const DONE = message(3, Buffer.alloc(4));
export const REFUSED = message(2, Buffer.alloc(20));

export function socketMessage(fields: SocketFields = {}, flags = 2): Buffer {
  const body = Buffer.alloc(72);
  body.writeUInt8(fields.family ?? 2, 0);
  body.writeUInt8(fields.state ?? 1, 1);
  body.writeUInt8(fields.timer ?? 0, 2);
  body.writeUInt16BE(fields.localPort ?? 8080, 4);
  body.writeUInt16BE(fields.peerPort ?? 50_000, 6);
  for (const [n, byte] of (fields.local ?? [10, 1, 0, 7]).entries()) body.writeUInt8(byte, 8 + n);
  for (const [n, byte] of (fields.peer ?? [10, 2, 0, 9]).entries()) body.writeUInt8(byte, 24 + n);
  body.writeUInt32LE(fields.expiresMs ?? 0, 52);
  body.writeUInt32LE(fields.receiveQueue ?? 0, 56);
  body.writeUInt32LE(fields.sendQueue ?? 0, 60);
  body.writeUInt32LE(fields.uid ?? 1000, 64);
  if (fields.info === undefined) return message(20, body, flags);
  // Another attribute precedes tcp_info.
  return message(20, Buffer.concat([body, attribute(8, Buffer.from([0])), attribute(2, fields.info)]), flags);
}

export function tcpInfo(sent: number, received: number, ack: number, bytesReceived: number, length = 248): Buffer {
  const info = Buffer.alloc(248);
  info.writeUInt32LE(sent, 44);
  info.writeUInt32LE(received, 52);
  info.writeUInt32LE(ack, 56);
  info.writeBigUInt64LE(BigInt(bytesReceived), 128);
  info.writeUInt32LE(11, 136);
  info.writeUInt32LE(6, 152);
  info.writeUInt32LE(8, 156);
  return info.subarray(0, length);
}

function attribute(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(4 + value.length, 0);
  head.writeUInt16LE(type, 2);
  return Buffer.concat([head, value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
}

export type Playback = { readonly libc: Libc; readonly open: () => number };

/** Replays one list of parts per family: `recv` copies the next part, and returns -1 after the last. */
export function playback(byFamily: { readonly [family: number]: readonly Buffer[] }): Playback {
  const remainingParts = new Map<number, Buffer[]>();
  let lastFd = 10;
  let open = 0;
  return {
    open: () => open,
    libc: {
      available: true,
      socket: () => {
        open += 1;
        lastFd += 1;
        return lastFd;
      },
      send: (fd, bytes) => {
        remainingParts.set(fd, [...(byFamily[bytes[16] ?? 0] ?? [])]);
        return bytes.length;
      },
      recv: (fd, bytes) => {
        const part = remainingParts.get(fd)?.shift();
        if (part === undefined) return -1;
        bytes.set(part.subarray(0, bytes.length));
        return part.length;
      },
      connect: () => -1,
      setsockopt: () => 0,
      close: () => {
        open -= 1;
        return 0;
      },
    },
  };
}
