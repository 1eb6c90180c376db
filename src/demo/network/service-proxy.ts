/**
 * Simulates a Service: forwards TCP connections and applies endpoint changes late, as kube-proxy does.
 *
 * Changes affect new connections only. The client receives a reset for a refusal or reset by the Pod, and a FIN for a FIN.
 */
import { connect, createServer, type Socket } from "node:net";
import type { Clock } from "../clock.ts";
import type { PodNetwork } from "./pod-network.ts";
import { closeServer, isRefusal, listen } from "./sockets.ts";

type ServiceProxyPorts = {
  readonly clock: Clock;
  readonly network: Pick<PodNetwork, "serviceAddress" | "trafficAddress">;
  readonly port: number;
  readonly targetPort: number;
  readonly propagationMs: number;
};

/** Times are on the proxy's clock; `toMs` is -1 while the connection is open. */
export type ForwardedConnection = { readonly pod: string; readonly fromMs: number; readonly toMs: number };

export type ServiceProxy = {
  readonly port: number;
  readonly enqueue: (change: EndpointChange) => void;
  readonly flush: () => void;
  readonly forwardedConnections: () => readonly ForwardedConnection[];
  /** Whether the Pod refused this client's connection. For a refusal the client receives a reset. */
  readonly wasRefused: (clientPort: number) => boolean;
  readonly close: () => Promise<void>;
};

const REFUSAL_MS = 5;

export async function startServiceProxy(ports: ServiceProxyPorts): Promise<ServiceProxy> {
  let publishedEndpoints: readonly Endpoint[] = [];
  let appliedEndpoints: readonly Endpoint[] = [];
  let nextIndex = 0;
  const closing = new AbortController();
  const sockets = new Set<Socket>();
  const refusedPorts = new Set<number>();
  const forwardedConnections: { pod: string; fromMs: number; toMs: number }[] = [];

  const refuse = (client: Socket) => {
    client.on("error", () => {});
    refusedPorts.add(client.remotePort ?? 0);
    // Waits, because a client that is reset before its connect event does not have a local port for `wasRefused`.
    void ports.clock.wait(REFUSAL_MS, closing.signal).then(() => client.resetAndDestroy());
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const candidates = usableEndpoints(appliedEndpoints);
    const endpoint = candidates[nextIndex++ % Math.max(1, candidates.length)];
    sockets.add(client);
    client.once("close", () => sockets.delete(client));
    client.setNoDelay(true);
    if (endpoint === undefined) return refuse(client);
    const connection = { pod: endpoint.address, fromMs: ports.clock.nowMs(), toMs: -1 };
    forwardedConnections.push(connection);
    const pod = connect({
      host: endpoint.address,
      port: ports.targetPort,
      localAddress: ports.network.trafficAddress,
      allowHalfOpen: true,
      noDelay: true,
    });
    sockets.add(pod);
    refusedPorts.delete(client.remotePort ?? 0);
    pod.once("close", () => {
      sockets.delete(pod);
      connection.toMs = ports.clock.nowMs();
    });
    joinSockets(client, pod, (error) => (isRefusal(error) ? refuse(client) : client.resetAndDestroy()));
  });
  return {
    port: await listen(server, ports.network.serviceAddress, ports.port),
    enqueue: (change) => {
      publishedEndpoints = applyChange(publishedEndpoints, change);
      const applyToProxy = () => {
        appliedEndpoints = applyChange(appliedEndpoints, change);
      };
      if (ports.propagationMs === 0) applyToProxy();
      else void ports.clock.wait(ports.propagationMs, closing.signal).then(applyToProxy);
    },
    flush: () => {
      appliedEndpoints = publishedEndpoints;
    },
    forwardedConnections: () => forwardedConnections,
    wasRefused: (clientPort) => refusedPorts.has(clientPort),
    close: async () => {
      closing.abort();
      for (const socket of sockets) socket.destroy();
      await closeServer(server);
    },
  };
}

function joinSockets(client: Socket, pod: Socket, onPodError: (error: Error) => void): void {
  client.pipe(pod);
  pod.pipe(client);
  client.on("error", () => pod.resetAndDestroy());
  pod.on("error", onPodError);
  client.once("close", () => {
    if (!pod.writableEnded) pod.destroy();
  });
  pod.once("close", (hadError) => {
    if (!hadError && !client.writableEnded) client.destroy();
  });
}

export type Endpoint = {
  readonly address: string;
  readonly serving: boolean;
  readonly terminating: boolean;
};

export type EndpointChange = Endpoint | { readonly address: string; readonly gone: true };

export function applyChange(endpoints: readonly Endpoint[], change: EndpointChange): readonly Endpoint[] {
  const otherEndpoints = endpoints.filter((endpoint) => endpoint.address !== change.address);
  return "gone" in change ? otherEndpoints : [...otherEndpoints, change];
}

/** Returns the ready endpoints or, if there are none, the serving terminating ones, as kube-proxy does from 1.26 on. */
export function usableEndpoints(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const servingEndpoints = endpoints.filter((endpoint) => endpoint.serving);
  const readyEndpoints = servingEndpoints.filter((endpoint) => !endpoint.terminating);
  return readyEndpoints.length > 0 ? readyEndpoints : servingEndpoints;
}
