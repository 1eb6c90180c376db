/** Types of the data that the kernel provides about sockets. */
import type { Address } from "./address-text.ts";

export type TcpSocket = {
  /** 2 = IPv4, 10 = IPv6. */
  readonly family: number;
  /** One of the numbers in tcp-states.ts. */
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
  /** The ages in ms and all counters below are from tcp_info; -1 if the source is /proc/net, which does not have them. */
  readonly lastDataSentMs: number;
  readonly lastDataReceivedMs: number;
  /** For TIME_WAIT from netlink: time since the connection ended. */
  readonly lastAckReceivedMs: number;
  readonly bytesReceived: number;
  readonly dataSegmentsReceived: number;
  readonly dataSegmentsSent: number;
  readonly pureAcksSent: number;
};

/** Receives the sockets of one sample as a stream, because a Pod may have more sockets than fit in memory. */
export type SocketVisitor = {
  /** Called for all listeners before the first connection. */
  readonly onListener: (socket: TcpSocket) => void;
  readonly onConnection: (socket: TcpSocket) => void;
  /** Called for an unconnected UDP socket on a non-loopback address. @returns false if no more UDP ports are needed */
  readonly onUdpPort: (port: number) => boolean;
  /** Called if the number of UDP sockets exceeds the limit; further UDP sockets are not read. */
  readonly onTooManyUdp: () => void;
  /** Called if a source that worked before failed, or if the table changed during the dump. The sample then does not count as blind. */
  readonly onIncomplete: () => void;
};

export type SocketReading = {
  readonly source: "netlink" | "proc";
  readonly socketCount: number;
  readonly passiveOpens: number;
  readonly activeOpens: number;
};
