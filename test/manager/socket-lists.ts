/** Collects streamed sockets into lists, with addresses as text. Uses the plain subset (decision 3). */
import type { Libc } from "../../src/manager/ports.ts";
import { type Address, addressText, parseAddress } from "../../src/manager/sockets/address-text.ts";
import { type DumpEnd, dumpTcp } from "../../src/manager/sockets/netlink-exchange.ts";
import { type DatagramEnd, readDatagram } from "../../src/manager/sockets/netlink-message.ts";
import { createTableReader } from "../../src/manager/sockets/proc-tables.ts";
import type { SocketReading, TcpSocket } from "../../src/manager/sockets/reading.ts";
import type { SocketReader } from "../../src/manager/sockets/sockets.ts";

export type TextSocket = {
  readonly family: number;
  readonly state: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly peerAddress: string;
  readonly peerPort: number;
  readonly uid: number;
  readonly receiveQueue: number;
  readonly sendQueue: number;
  readonly lastDataSentMs: number;
  readonly lastDataReceivedMs: number;
  readonly lastAckReceivedMs: number;
  readonly bytesReceived: number;
  readonly dataSegmentsReceived: number;
  readonly dataSegmentsSent: number;
  readonly pureAcksSent: number;
};

export function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is not an address`);
  return address;
}

/** Lists the fields explicitly, so that both builds print them in the same order. */
export function toTextSocket(socket: TcpSocket): TextSocket {
  return {
    family: socket.family,
    state: socket.state,
    localAddress: addressText(socket.localAddress),
    localPort: socket.localPort,
    peerAddress: addressText(socket.peerAddress),
    peerPort: socket.peerPort,
    uid: socket.uid,
    receiveQueue: socket.receiveQueue,
    sendQueue: socket.sendQueue,
    lastDataSentMs: socket.lastDataSentMs,
    lastDataReceivedMs: socket.lastDataReceivedMs,
    lastAckReceivedMs: socket.lastAckReceivedMs,
    bytesReceived: socket.bytesReceived,
    dataSegmentsReceived: socket.dataSegmentsReceived,
    dataSegmentsSent: socket.dataSegmentsSent,
    pureAcksSent: socket.pureAcksSent,
  };
}

export function toTcpSocket(socket: TextSocket): TcpSocket {
  return { ...socket, localAddress: addressOf(socket.localAddress), peerAddress: addressOf(socket.peerAddress) };
}

export function parsePart(
  bytes: Buffer,
  length = bytes.length,
  timeWaitLimitMs = 60_000,
): { end: DatagramEnd; sockets: TextSocket[] } {
  const sockets: TextSocket[] = [];
  const end = readDatagram(bytes, length, 1, {
    timeWaitLimitMs,
    onSocket: (socket) => sockets.push(toTextSocket(socket)),
  });
  return { end, sockets };
}

export function dumpSockets(libc: Libc, states = 0xfff): { end: DumpEnd; sockets: TextSocket[] } {
  const sockets: TextSocket[] = [];
  const end = dumpTcp(
    libc,
    { family: 2, states, exceptPort: 0 },
    { timeWaitLimitMs: 60_000, onSocket: (socket) => sockets.push(toTextSocket(socket)) },
  );
  return { end, sockets };
}

/** @param cuts offsets at which the text is cut into pieces. @returns undefined if the table is incomplete */
export function parseTable(text: string, family: number, cuts: readonly number[] = []): TextSocket[] | undefined {
  const sockets: TextSocket[] = [];
  const reader = createTableReader(family, (socket) => {
    sockets.push(toTextSocket(socket));
    return true;
  });
  let from = 0;
  for (const cut of [...cuts, text.length]) {
    if (!reader.addPiece(text.slice(from, cut))) return undefined;
    from = cut;
  }
  return reader.end() ? sockets : undefined;
}

export type SocketLists = SocketReading & {
  readonly listeners: readonly TextSocket[];
  readonly connections: readonly TextSocket[];
  readonly udpPorts: readonly number[];
  readonly hasTooManyUdp: boolean;
};

/** @param enoughUdp number of UDP ports after which the read may stop */
export function readSocketLists(read: SocketReader, tracesMs = 60_000, enoughUdp = 1_000): SocketLists | undefined {
  const listeners: TextSocket[] = [];
  const connections: TextSocket[] = [];
  const udpPorts: number[] = [];
  let hasTooManyUdp = false;
  const reading = read(tracesMs, {
    onListener: (socket) => listeners.push(toTextSocket(socket)),
    onConnection: (socket) => connections.push(toTextSocket(socket)),
    onUdpPort: (port) => {
      udpPorts.push(port);
      return udpPorts.length < enoughUdp;
    },
    onTooManyUdp: () => {
      hasTooManyUdp = true;
    },
    onIncomplete: () => undefined,
  });
  return reading === undefined
    ? undefined
    : { ...reading, listeners, connections, udpPorts, hasTooManyUdp: hasTooManyUdp };
}
