/** What the kernel shows of the Pod's sockets, as data. */
import type { Address } from "./address-text.ts";

/** One TCP socket of the Pod's network namespace. */
export type TcpSocket = {
  /** 2 = IPv4, 10 = IPv6. */
  readonly family: number;
  /** Kernel numbers: 1 ESTABLISHED, 2 SYN_SENT, 3 SYN_RECV, 4 FIN_WAIT1, 5 FIN_WAIT2, 6 TIME_WAIT, 8 CLOSE_WAIT, 9 LAST_ACK, 10 LISTEN, 11 CLOSING. */
  readonly state: number;
  readonly localAddress: Address;
  readonly localPort: number;
  readonly peerAddress: Address;
  readonly peerPort: number;
  readonly uid: number;
  /** Bytes unread; for LISTEN the connections waiting for accept. */
  readonly receiveQueue: number;
  /** Bytes not acknowledged by the peer; for LISTEN the backlog limit. */
  readonly sendQueue: number;
  /** From tcp_info; ages in ms. All -1 where the source cannot tell (/proc/net). */
  readonly lastDataSentMs: number;
  readonly lastDataReceivedMs: number;
  /** For TIME_WAIT from netlink: since the connection ended. */
  readonly lastAckReceivedMs: number;
  readonly bytesReceived: number;
  /** Segments with data, and acknowledgements sent on their own. Whole counts of the connection's life; -1 like the ages. */
  readonly dataSegmentsReceived: number;
  readonly dataSegmentsSent: number;
  readonly pureAcksSent: number;
};

/** Gets what one look at the kernel shows, as it is read: a Pod may have more sockets than fit in our memory. */
export type SocketVisitor = {
  /** All of these come before the first connection. */
  readonly onListener: (socket: TcpSocket) => void;
  readonly onConnection: (socket: TcpSocket) => void;
  /** An unconnected bound UDP socket on a non-loopback address. @returns false when no more have to be shown */
  readonly onUdpPort: (port: number) => boolean;
  /** There are more UDP sockets than are read. */
  readonly onManyUdp: () => void;
  /** A source is there and failed this time, or its table changed meanwhile: such a look is no blindness. */
  readonly onTorn: () => void;
};

/** One look at the kernel that was whole. */
export type Reading = {
  readonly source: "netlink" | "proc";
  /** How many were shown: what the look has cost. */
  readonly sockets: number;
  /** Counters of /proc/net/snmp; -1 when unreadable. */
  readonly passiveOpens: number;
  readonly activeOpens: number;
};
