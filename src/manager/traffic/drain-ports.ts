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
  readonly isReachableUndrained: (listener: TcpSocket) => boolean;
};

export function createDrainPorts(settings: DrainSettings): DrainPorts {
  const scope = parseAddress(settings.addressScope);
  const isScoped = settings.addressScope !== "";
  const inScope = (address: Address): boolean => !isScoped || (scope !== undefined && isSameAddress(address, scope));
  const hasPortList = settings.drainPorts.length > 0;
  const drainedPorts = new Set<number>();

  const isAllowed = (port: number): boolean => {
    if (port === settings.port || isMeshPort(port) || settings.ignorePorts.includes(port)) return false;
    return !hasPortList || settings.drainPorts.includes(port);
  };
  for (const port of settings.drainPorts) if (isAllowed(port)) drainedPorts.add(port);

  const isReachable = (address: Address): boolean => {
    // In a shared network namespace a listener on all addresses may belong to another Pod, unless the settings name its port.
    if (isScoped) return inScope(address) || (hasPortList && isAny(address));
    return hasPortList || !isLoopback(address);
  };
  const isListener = (socket: TcpSocket): boolean =>
    socket.state === LISTEN && isAllowed(socket.localPort) && isReachable(socket.localAddress);

  const usesActiveUrl = driverRow(settings.driver).callsApp && criterionOf(settings) === "requests";
  const activeTarget = usesActiveUrl ? parseHttpTarget(settings.activeUrl) : undefined;
  const activeAddress = activeTarget === undefined ? undefined : parseAddress(activeTarget.host);
  const activePort = activeTarget === undefined ? -1 : activeTarget.port;

  return {
    isListener,
    isActiveUrlPort: (socket) =>
      socket.state === LISTEN &&
      socket.localPort === activePort &&
      (isAny(socket.localAddress) ||
        (activeAddress !== undefined && isSameAddress(socket.localAddress, activeAddress))),
    add: (listener) => {
      if (isListener(listener)) drainedPorts.add(listener.localPort);
    },
    has: (port) => drainedPorts.has(port),
    list: () => [...drainedPorts],
    inScope,
    hasUdp: (port) => isAllowed(port) && (!isScoped || settings.drainPorts.includes(port)),
    isReachableUndrained: (listener) =>
      !isLoopback(listener.localAddress) &&
      !drainedPorts.has(listener.localPort) &&
      listener.localPort !== settings.port &&
      !isMeshPort(listener.localPort),
  };
}
