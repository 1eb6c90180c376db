/** Determines the drained ports: the ports in the settings, or all ports that clients outside of the Pod can reach. */
import { criterionOf } from "../../contract/criterion.ts";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import { parseHttpTarget } from "../http/http-target.ts";
import { type Address, isAny, isLoopback, isSameAddress, parseAddress } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { LISTEN } from "../sockets/tcp-states.ts";
import { isMeshPort } from "./other-processes.ts";

type DrainPorts = {
  readonly add: (listener: TcpSocket) => void;
  readonly isListener: (socket: TcpSocket) => boolean;
  /** Whether the socket listens on the port of `active-url`, which counts as reachable even on loopback. */
  readonly isActiveUrlPort: (socket: TcpSocket) => boolean;
  readonly has: (port: number) => boolean;
  readonly list: () => readonly number[];
  readonly inScope: (localAddress: Address) => boolean;
  readonly hasUdp: (port: number) => boolean;
  /** Whether the listener is reachable on a port that is not drained. PassiveOpens then includes connections of other ports. */
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
    // In a shared network namespace a listener on all addresses may belong to another Pod, unless the settings name its port.
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
    isActiveUrlPort: (socket) =>
      socket.state === LISTEN &&
      socket.localPort === countPort &&
      (isAny(socket.localAddress) || (countHost !== undefined && isSameAddress(socket.localAddress, countHost))),
    add: (listener) => {
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
