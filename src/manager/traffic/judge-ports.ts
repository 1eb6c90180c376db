/** Which ports are drained: what settings name, or what listens where somebody outside can reach it. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { parseHttpTarget } from "../drivers/http-target.ts";
import { canonicalAddress, isAnyAddress, isLoopbackAddress } from "../sockets/address-text.ts";
import { LISTEN } from "../sockets/tcp-states.ts";
import { isMeshPort } from "./neighbours.ts";
import type { Reading, TcpSocket } from "./observation.ts";

export type DrainPorts = {
  readonly learn: (listeners: readonly TcpSocket[]) => void;
  /** The socket listens on a drain port right now. */
  readonly isListener: (socket: TcpSocket) => boolean;
  /** The app answers there how much work it has: somebody to wait for, even where nobody outside can reach the Pod. */
  readonly isCount: (socket: TcpSocket) => boolean;
  /** The port is drained, whether or not it still listens: a server that stops accepting still answers. */
  readonly has: (port: number) => boolean;
  /** The socket belongs to the local address that counts. */
  readonly inScope: (localAddress: string) => boolean;
  /** UDP that could carry traffic is bound. */
  readonly hasUdp: (reading: Reading) => boolean;
  /** Some port that is not drained can be reached from outside, so counters cannot tell whose connection it was. */
  readonly othersReachable: (listeners: readonly TcpSocket[]) => boolean;
};

export function createDrainPorts(settings: DrainSettings): DrainPorts {
  const scope = canonicalAddress(settings.addressScope);
  const named = settings.drainPorts.length > 0;
  const known = new Set<number>();

  const allowed = (port: number): boolean => {
    if (port === settings.port || isMeshPort(port) || settings.ignorePorts.includes(port)) return false;
    return !named || settings.drainPorts.includes(port);
  };
  for (const port of settings.drainPorts) if (allowed(port)) known.add(port);

  const reachable = (address: string): boolean => {
    // In a shared namespace a listener on all addresses may be anybody's, unless settings name its port.
    if (scope !== "") return address === scope || (named && isAnyAddress(address));
    return named || !isLoopbackAddress(address);
  };
  const isListener = (socket: TcpSocket): boolean =>
    socket.state === LISTEN && allowed(socket.localPort) && reachable(socket.localAddress);

  const counts = settings.driver === "http" && (settings.drainedWhen === "auto" || settings.drainedWhen === "requests");
  const count = counts ? parseHttpTarget(settings.activeUrl) : undefined;
  const countHost = count === undefined ? "" : canonicalAddress(count.host);
  const countPort = count === undefined ? -1 : count.port;

  return {
    isListener,
    isCount: (socket) =>
      socket.state === LISTEN &&
      socket.localPort === countPort &&
      (socket.localAddress === countHost || isAnyAddress(socket.localAddress)),
    learn: (listeners) => {
      for (const socket of listeners) if (isListener(socket)) known.add(socket.localPort);
    },
    has: (port) => known.has(port),
    inScope: (localAddress) => scope === "" || localAddress === scope,
    hasUdp: (reading) =>
      reading.udpPorts.some((port) => allowed(port) && (scope === "" || settings.drainPorts.includes(port))),
    othersReachable: (listeners) =>
      listeners.some(
        (socket) =>
          !isLoopbackAddress(socket.localAddress) &&
          !known.has(socket.localPort) &&
          socket.localPort !== settings.port &&
          !isMeshPort(socket.localPort),
      ),
  };
}
