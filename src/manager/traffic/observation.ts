/** What is seen of the Pod's traffic, as data: raw readings in, one judgement per poll out. */
import type { OpenConnection } from "../../contract/drain-report.ts";
import type { Address } from "../sockets/address.ts";

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

/** What one poll means. Produced by `judge`, consumed by the drain machine. Unknown is never zero. */
export type Observation =
  /** `blind`: no source of the kernel could be read. Else there was one, and what it showed was not whole. */
  | { readonly known: false; readonly why: string; readonly blind: boolean }
  | {
      readonly known: true;
      /**
       * Anything at all that could carry traffic: a TCP listener, or bound UDP, on a non-loopback address (ours and mesh
       * ports aside). The port where the app counts its work is a listener too, on whatever address.
       */
      readonly hasTcpListener: boolean;
      readonly hasUdp: boolean;
      readonly openConnections: number;
      /** True when nothing is going on right now: backlog 0, no SYN_RECV, no busy connection, and the idle state of all is known. */
      readonly calm: boolean;
      /** True when nothing is seen to be going on, and of some open connections the source cannot tell. */
      readonly untold: boolean;
      /** Monotonic time of the last evidence of traffic seen so far (new connection, busy connection, data on an idle one); -1 when none. */
      readonly lastEvidenceMs: number;
      readonly witness: string;
      readonly left: readonly OpenConnection[];
      readonly leftTotal: number;
      /** Connections beyond what can be remembered from look to look: counted, and never taken for calm. */
      readonly unfollowed: number;
    };
