/** One look at the kernel's sockets, from the best source there is. */

import type { Libc, ReadText } from "../ports.ts";
import type { Reading, TcpSocket } from "../traffic/observation.ts";
import { isAnyAddress, isLoopbackAddress } from "./address-text.ts";
import { type Dump, dumpTcp } from "./netlink-dump.ts";
import { AF_INET, AF_INET6 } from "./netlink-message.ts";
import { parseOpens } from "./proc-snmp.ts";
import { parseTcpTable } from "./proc-tables.ts";

/** @param tracesMs how long ago a connection may have ended to be shown; the tables of /proc show all */
export type SocketReader = (tracesMs: number) => Reading | undefined;

/** @returns a reader that answers `undefined` when no source gave a whole and consistent picture. */
export function createSocketReader(libc: Libc, readText: ReadText): SocketReader {
  return (tracesMs) => {
    const udpPorts = readUdpPorts(readText);
    // Before the sockets: a connection that comes between the two looks must show in the later one, the dump.
    const opens = parseOpens(readText("/proc/net/snmp") ?? "");
    const look = readTcp(libc, readText, tracesMs);
    if (udpPorts === undefined || look === undefined) return undefined;
    return {
      source: look.source,
      sockets: look.sockets,
      udpPorts,
      passiveOpens: opens.passive,
      activeOpens: opens.active,
    };
  };
}

type TcpLook = { readonly source: "netlink" | "proc"; readonly sockets: readonly TcpSocket[] };

function readTcp(libc: Libc, readText: ReadText, tracesMs: number): TcpLook | undefined {
  const four = dumpTcp(libc, AF_INET, tracesMs);
  if (four.kind === "inconsistent") return undefined;
  if (four.kind === "missing") return readTcpTables(readText);
  const six: Dump = dumpTcp(libc, AF_INET6, tracesMs);
  if (six.kind === "inconsistent") return undefined;
  if (six.kind === "whole") return { source: "netlink", sockets: joined(four.sockets, six.sockets) };
  // Refused for IPv6 alone: either the kernel has none, which the missing table confirms, or the picture is half.
  if (readText("/proc/net/tcp6") === undefined) return { source: "netlink", sockets: four.sockets };
  return readTcpTables(readText);
}

function readTcpTables(readText: ReadText): TcpLook | undefined {
  const four = parseTcpTable(readText("/proc/net/tcp") ?? "", AF_INET);
  const six = parseIfThere(readText("/proc/net/tcp6"));
  if (four === undefined || six === undefined) return undefined;
  return { source: "proc", sockets: joined(four, six) };
}

/** The kernel marks an unconnected UDP socket with the number of TCP's CLOSE. */
const UNCONNECTED = 7;

function readUdpPorts(readText: ReadText): number[] | undefined {
  const four = parseTcpTable(readText("/proc/net/udp") ?? "", AF_INET);
  const six = parseIfThere(readText("/proc/net/udp6"));
  if (four === undefined || six === undefined) return undefined;
  const ports: number[] = [];
  for (const socket of joined(four, six)) {
    const reachable = isAnyAddress(socket.localAddress) || !isLoopbackAddress(socket.localAddress);
    if (socket.state === UNCONNECTED && reachable && !ports.includes(socket.localPort)) ports.push(socket.localPort);
  }
  return ports;
}

/** A kernel without IPv6 has no such table. */
function parseIfThere(text: string | undefined): TcpSocket[] | undefined {
  // With a type of its own: the ahead-of-time compiler takes a bare [] for numbers, and the program ends where it is used.
  const none: TcpSocket[] = [];
  return text === undefined ? none : parseTcpTable(text, AF_INET6);
}

/** Written out, since the ahead-of-time compiler knows no other way to join lists of records. */
function joined(some: readonly TcpSocket[], more: readonly TcpSocket[]): readonly TcpSocket[] {
  if (more.length === 0) return some;
  return [...some, ...more];
}
