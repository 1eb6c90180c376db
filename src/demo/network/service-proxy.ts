/**
 * The Service's address: a TCP forwarder that learns of endpoint changes late, as the proxies of a cluster do.
 *
 * A change concerns new connections only; open ones stay where they are. It adds no fault of its own: a Pod that refuses
 * or resets is passed on as a reset, a Pod that closes as a close.
 */
import { connect, createServer, type Socket } from "node:net";
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { PodNetwork } from "./pod-network.ts";
import { applyChange, type Endpoint, type EndpointChange, usableEndpoints } from "./service-endpoints.ts";

type ServiceProxyPorts = {
  readonly clock: Clock;
  readonly network: Pick<PodNetwork, "serviceAddress" | "trafficAddress">;
  /** 0 lets the system choose, for tests. */
  readonly port: number;
  readonly targetPort: number;
  readonly propagationMs: number;
};

/** One forwarded connection, on the proxy's clock; `toMs` is -1 while it is open. */
export type Forwarded = { readonly pod: string; readonly fromMs: number; readonly toMs: number };

export type ServiceProxy = {
  readonly port: number;
  /** The change becomes true in the API now and known here `propagationMs` later. */
  readonly tell: (change: EndpointChange) => void;
  /** Forgets the lateness once: everything told so far is known now. */
  readonly catchUp: () => void;
  readonly forwarded: () => readonly Forwarded[];
  /** Whether the Pod behind this client connection refused it; a forwarder can only answer with a reset. */
  readonly wasRefused: (clientPort: number) => boolean;
  readonly close: () => Promise<void>;
};

const REFUSAL_MS = 5;

export async function startServiceProxy(ports: ServiceProxyPorts): Promise<ServiceProxy> {
  let inApi: readonly Endpoint[] = [];
  let known: readonly Endpoint[] = [];
  let turn = 0;
  const closing = new AbortController();
  const sockets = new Set<Socket>();
  const refused = new Set<number>();
  const forwarded: { pod: string; fromMs: number; toMs: number }[] = [];

  const refuse = (client: Socket) => {
    client.on("error", () => {});
    refused.add(client.remotePort ?? 0);
    // A client that is reset before it has seen its connection cannot say which port it had.
    void ports.clock.wait(REFUSAL_MS, closing.signal).then(() => client.resetAndDestroy());
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const usable = usableEndpoints(known);
    const endpoint = usable[turn++ % Math.max(1, usable.length)];
    sockets.add(client);
    client.once("close", () => sockets.delete(client));
    client.setNoDelay(true);
    if (endpoint === undefined) {
      refuse(client);
      return;
    }
    const entry = { pod: endpoint.address, fromMs: ports.clock.nowMs(), toMs: -1 };
    forwarded.push(entry);
    const pod = connect({
      host: endpoint.address,
      port: ports.targetPort,
      localAddress: ports.network.trafficAddress,
      allowHalfOpen: true,
      noDelay: true,
    });
    sockets.add(pod);
    refused.delete(client.remotePort ?? 0);
    pod.once("close", () => {
      sockets.delete(pod);
      entry.toMs = ports.clock.nowMs();
    });
    join(client, pod, (error) => {
      if (isRefusal(error)) refuse(client);
      else client.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new Fault("ERR_DEMO_FAILED", "the Service's address is taken", cause)));
    server.listen(ports.port, ports.network.serviceAddress, 1_024, resolve);
  });
  const address = server.address();

  return {
    port: typeof address === "object" && address !== null ? address.port : ports.port,
    tell: (change) => {
      inApi = applyChange(inApi, change);
      if (ports.propagationMs === 0) known = applyChange(known, change);
      else {
        void ports.clock.wait(ports.propagationMs, closing.signal).then(() => {
          known = applyChange(known, change);
        });
      }
    },
    catchUp: () => {
      known = inApi;
    },
    forwarded: () => forwarded,
    wasRefused: (clientPort) => refused.has(clientPort),
    close: async () => {
      closing.abort();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Bytes, ends and resets of either side reach the other; each socket is closed exactly when its peer is done. */
function join(client: Socket, pod: Socket, onPodError: (error: Error) => void): void {
  client.pipe(pod);
  pod.pipe(client);
  client.on("error", () => pod.resetAndDestroy());
  pod.on("error", (error) => {
    onPodError(error);
  });
  client.once("close", () => {
    if (!pod.writableEnded) pod.destroy();
  });
  pod.once("close", (failed) => {
    if (!failed && !client.writableEnded) client.destroy();
  });
}

function isRefusal(error: Error): boolean {
  const code = "code" in error ? error.code : "";
  return code === "ECONNREFUSED" || code === "EHOSTUNREACH";
}
