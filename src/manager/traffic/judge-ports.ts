/** Which ports are drained: what settings name, or what listens where a client outside the Pod can reach it. */
import { criterionOf } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { parseHttpTarget } from "../http/http-target.ts";
import { type Address, isAny, isLoopback, isSameAddress, parseAddress } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { LISTEN } from "../sockets/tcp-states.ts";
import { isMeshPort } from "./neighbours.ts";

type DrainPorts = {
  readonly learn: (listener: TcpSocket) => void;
  /** The socket listens on a drain port right now. */
  readonly isListener: (socket: TcpSocket) => boolean;
  /** The app answers there how much work it has: it is waited for, even where no client outside can reach the Pod. */
  readonly isCount: (socket: TcpSocket) => boolean;
  /** The port is drained, whether or not it still listens: a server that stops accepting still answers. */
  readonly has: (port: number) => boolean;
  /** All of these, in the order in which they were learned. */
  readonly list: () => readonly number[];
  /** The socket belongs to the local address that counts. */
  readonly inScope: (localAddress: Address) => boolean;
  /** UDP bound there could carry traffic. */
  readonly hasUdp: (port: number) => boolean;
  /** A listener, learned before, is reached from outside and not drained: counters cannot tell whose connection it was. */
  readonly isOther: (listener: TcpSocket) => boolean;
};

export function createDrainPorts(settings: DrainSettings): DrainPorts {
  const scope = parseAddress(settings.addressScope);
  const scoped = settings.addressScope !== "";
  const inScope = (address: Address): boolean => !scoped || (scope !== undefined && isSameAddress(address, scope));
  const named = settings.drainPorts.length > 0;
  const known = new Set<number>();

  const allowed = (port: number): boolean => {
    if (port === settings.port || isMeshPort(port) || settings.ignorePorts.includes(port)) return false;
    return !named || settings.drainPorts.includes(port);
  };
  for (const port of settings.drainPorts) if (allowed(port)) known.add(port);

  const reachable = (address: Address): boolean => {
    // In a shared namespace a listener on all addresses may be anybody's, unless settings name its port.
    if (scoped) return inScope(address) || (named && isAny(address));
    return named || !isLoopback(address);
  };
  const isListener = (socket: TcpSocket): boolean =>
    socket.state === LISTEN && allowed(socket.localPort) && reachable(socket.localAddress);

  const counts = driverRow(settings.driver).callsApp && criterionOf(settings) === "requests";
  const count = counts ? parseHttpTarget(settings.activeUrl) : undefined;
  const countHost = count === undefined ? undefined : parseAddress(count.host);
  const countPort = count === undefined ? -1 : count.port;

  return {
    isListener,
    isCount: (socket) =>
      socket.state === LISTEN &&
      socket.localPort === countPort &&
      (isAny(socket.localAddress) || (countHost !== undefined && isSameAddress(socket.localAddress, countHost))),
    learn: (listener) => {
      if (isListener(listener)) known.add(listener.localPort);
    },
    has: (port) => known.has(port),
    list: () => [...known],
    inScope,
    hasUdp: (port) => allowed(port) && (!scoped || settings.drainPorts.includes(port)),
    isOther: (listener) =>
      !isLoopback(listener.localAddress) &&
      !known.has(listener.localPort) &&
      listener.localPort !== settings.port &&
      !isMeshPort(listener.localPort),
  };
}
