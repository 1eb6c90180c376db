/** Samples the kernel's sockets from the best available source, as a stream. */
import type { Libc, ReadText, ScanText } from "../ports.ts";
import { isLoopback } from "./address-text.ts";
import { parseOpens } from "./kernel-counters.ts";
import { ALL_BUT_LISTENERS, type DumpEnd, dumpTcp, LISTENERS } from "./netlink-exchange.ts";
import { AF_INET, AF_INET6, type SocketReceiver } from "./netlink-message.ts";
import { createTableReader } from "./proc-tables.ts";
import type { SocketReading, SocketVisitor, TcpSocket } from "./reading.ts";
import { LISTEN } from "./tcp-states.ts";

/**
 * @param timeWaitLimitMs maximum age of TIME_WAIT entries; older ones are omitted, except by /proc, which does not have ages
 * @returns `undefined` if no source was complete and consistent; the visitor may have received some sockets in that case too
 */
export type SocketReader = (timeWaitLimitMs: number, visitor: SocketVisitor) => SocketReading | undefined;

/** @param ownPort the manager's port, whose connections netlink omits */
export function createSocketReader(libc: Libc, readText: ReadText, scanText: ScanText, ownPort: number): SocketReader {
  // A source that worked before can fail only for lack of descriptors or memory, which must not end a drain as `blind`.
  let hasWorked = false;
  return (timeWaitLimitMs, visitor) => {
    const udpCount = visitUdp(scanText, visitor);
    // The counters are read before the sockets, so a connection that opens in between appears in the dump.
    const opens = parseOpens(readText("/proc/net/snmp") ?? "");
    let socketCount = 0;
    // Older kernels and /proc ignore the requested states, and return listeners and connections.
    const source = visitTcp(libc, scanText, {
      timeWaitLimitMs,
      ownPort,
      onListener: (socket) => {
        if (socket.state !== LISTEN) return;
        socketCount = socketCount + 1;
        visitor.onListener(socket);
      },
      onConnection: (socket) => {
        if (socket.state === LISTEN) return;
        socketCount = socketCount + 1;
        visitor.onConnection(socket);
      },
      onIncomplete: visitor.onIncomplete,
    });
    if (udpCount < 0 || source === "none") {
      if (hasWorked) visitor.onIncomplete();
      return undefined;
    }
    hasWorked = true;
    return { source, socketCount: socketCount + udpCount, passiveOpens: opens.passive, activeOpens: opens.active };
  };
}

type OnSocket = (socket: TcpSocket) => void;

type TcpVisit = {
  readonly timeWaitLimitMs: number;
  readonly ownPort: number;
  readonly onListener: OnSocket;
  readonly onConnection: OnSocket;
  readonly onIncomplete: () => void;
};

const NO_PORT = 0;

/** Reads the listeners of IPv4 and IPv6 first, because they determine the drained ports. Reads /proc if netlink is not available. */
function visitTcp(libc: Libc, scanText: ScanText, visit: TcpVisit): "netlink" | "proc" | "none" {
  const listeners: SocketReceiver = { timeWaitLimitMs: visit.timeWaitLimitMs, onSocket: visit.onListener };
  const dumpListeners = (family: number): DumpEnd =>
    dumpTcp(libc, { family, states: LISTENERS, exceptPort: NO_PORT }, listeners);
  const listenersV4 = dumpListeners(AF_INET);
  if (listenersV4 === "missing") return visitTables(scanText, visit);
  const listenersV6 = listenersV4 === "whole" ? dumpListeners(AF_INET6) : listenersV4;
  // If the kernel refuses only IPv6, a missing tcp6 table proves that the kernel does not support IPv6. Otherwise the dump is incomplete.
  if (listenersV6 === "missing" && isAvailable(scanText, "/proc/net/tcp6")) return visitTables(scanText, visit);
  if (listenersV4 === "inconsistent" || listenersV6 === "inconsistent") return failedVisit("inconsistent", visit);
  const connections: SocketReceiver = { timeWaitLimitMs: visit.timeWaitLimitMs, onSocket: visit.onConnection };
  const dumpConnections = (family: number): DumpEnd =>
    dumpTcp(libc, { family, states: ALL_BUT_LISTENERS, exceptPort: visit.ownPort }, connections);
  // From here on the visitor has received connections, so /proc cannot replace netlink in this sample.
  const connectionsV4 = dumpConnections(AF_INET);
  if (connectionsV4 !== "whole") return failedVisit(connectionsV4, visit);
  if (listenersV6 === "missing") return "netlink";
  const connectionsV6 = dumpConnections(AF_INET6);
  return connectionsV6 === "whole" ? "netlink" : failedVisit(connectionsV6, visit);
}

function failedVisit(dumpEnd: DumpEnd, visit: TcpVisit): "none" {
  if (dumpEnd === "inconsistent") visit.onIncomplete();
  return "none";
}

/** Reads each table twice, first for listeners, because the tables are not ordered by state. */
function visitTables(scanText: ScanText, visit: TcpVisit): "proc" | "none" {
  for (const onSocket of [visit.onListener, visit.onConnection]) {
    const visitSocket = (socket: TcpSocket): boolean => {
      onSocket(socket);
      return true;
    };
    if (visitTable(scanText, "tcp", AF_INET, visitSocket) !== "whole") return "none";
    if (visitTable(scanText, "tcp6", AF_INET6, visitSocket) === "broken") return "none";
  }
  return "proc";
}

function visitTable(
  scanText: ScanText,
  name: string,
  family: number,
  onSocket: (socket: TcpSocket) => boolean,
): "whole" | "missing" | "broken" {
  const reader = createTableReader(family, onSocket);
  const end = scanText(`/proc/net/${name}`, reader.addPiece);
  if (end === "missing") return "missing";
  return end === "read" && reader.end() ? "whole" : "broken";
}

function isAvailable(scanText: ScanText, path: string): boolean {
  return scanText(path, () => false) !== "missing";
}

/** State of an unconnected UDP socket; the same number as TCP's CLOSE. */
const UNCONNECTED = 7;
/** Limits the cost of reading, which is quadratic. A Pod with more UDP sockets counts as one with a reachable UDP port. */
const UDP_LIMIT = 4_096;

function visitUdp(scanText: ScanText, visitor: SocketVisitor): number {
  let socketCount = 0;
  let needsMore = true;
  const visitSocket = (socket: TcpSocket): boolean => {
    socketCount = socketCount + 1;
    const isReachable = socket.state === UNCONNECTED && !isLoopback(socket.localAddress);
    if (isReachable) needsMore = visitor.onUdpPort(socket.localPort);
    if (socketCount < UDP_LIMIT) return needsMore;
    visitor.onTooManyUdp();
    needsMore = false;
    return false;
  };
  if (visitTable(scanText, "udp", AF_INET, visitSocket) !== "whole") return -1;
  if (needsMore && visitTable(scanText, "udp6", AF_INET6, visitSocket) === "broken") return -1;
  return socketCount;
}
