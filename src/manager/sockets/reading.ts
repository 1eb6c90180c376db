/** Types of the kernel's socket data. */
import type { Address } from "./address-text.ts";

export type TcpSocket = {
  /** 2 = IPv4, 10 = IPv6. */
  readonly family: number;
  /** A number of tcp-states.ts. */
  readonly state: number;
  readonly localAddress: Address;
  readonly localPort: number;
  readonly peerAddress: Address;
  readonly peerPort: number;
  readonly uid: number;
  /** Unread bytes; for LISTEN the number of connections in the backlog. */
  readonly receiveQueue: number;
  /** Unacknowledged bytes; for LISTEN the backlog limit. */
  readonly sendQueue: number;
  /** From tcp_info; ages in ms. -1 if the source does not have them (/proc/net). */
  readonly lastDataSentMs: number;
  readonly lastDataReceivedMs: number;
  /** For TIME_WAIT from netlink: since the connection ended. */
  readonly lastAckReceivedMs: number;
  readonly bytesReceived: number;
  readonly dataSegmentsReceived: number;
  readonly dataSegmentsSent: number;
  readonly pureAcksSent: number;
};

/** Receives the sockets of one sample as a stream, because a Pod may have more of them than fit in memory. */
export type SocketVisitor = {
  /** Called for all listeners before the first connection. */
  readonly onListener: (socket: TcpSocket) => void;
  readonly onConnection: (socket: TcpSocket) => void;
  /** An unconnected UDP socket on a non-loopback address. @returns false when no more are needed */
  readonly onUdpPort: (port: number) => boolean;
  /** There are more UDP sockets than are read. */
  readonly onManyUdp: () => void;
  /** An available source failed this time, or its table changed during the dump; the sample is not blind. */
  readonly onIncomplete: () => void;
};

export type Reading = {
  readonly source: "netlink" | "proc";
  readonly sockets: number;
  readonly passiveOpens: number;
  readonly activeOpens: number;
};
