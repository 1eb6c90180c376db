/** Runs clients that need Python libraries: grpcio, and aioquic for HTTP/3. Each load is one Python process. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { startPeer } from "../harness/peer-process.ts";
import type { ClientCounts, ClientEnvironment, Clients, Peers } from "./envoy-scenario.ts";
import { PROXY_PORTS, UPSTREAM_PORTS } from "./upstream-ports.ts";

const GRPC_LOAD = new URL("./grpc-load.py", import.meta.url).pathname;
const HTTP3_PEER = new URL("./http3-peer.py", import.meta.url).pathname;

/** Clients never close their channels; after GOAWAY grpcio reconnects, to the Pod or, after the withdrawal, to the upstream. */
export function grpcioClients(
  channels: number,
  paceMs: number,
): (environment: ClientEnvironment & Peers) => Promise<Clients> {
  return async (environment) => {
    const counts: ClientCounts = { answered: 0, failures: [] };
    const service = await openService(environment);
    const args = [GRPC_LOAD, "127.0.0.1", service.port, channels, paceMs].map(String);
    const peer = await startPeer(environment.grpcio, args, (line) => addResult(counts, line));
    return {
      counts,
      lastTrafficMs: service.lastTrafficMs,
      withdraw: service.withdraw,
      stop: async () => {
        await peer.stop();
        service.close();
      },
    };
  };
}

export function http3Clients(
  clients: number,
  paceMs: number,
): (environment: ClientEnvironment & Peers) => Promise<Clients> {
  return async ({ clock, pod, http3 }) => {
    const counts: ClientCounts = { answered: 0, failures: [] };
    let lastTrafficMs = clock.nowMs();
    const peer = await startPeer(http3, [HTTP3_PEER, pod, PROXY_PORTS.http3, clients, paceMs].map(String), (line) => {
      if (line === "closed") return;
      addResult(counts, line);
      lastTrafficMs = clock.nowMs();
    });
    return { counts, lastTrafficMs: () => lastTrafficMs, withdraw: () => {}, stop: peer.stop };
  };
}

function addResult(counts: ClientCounts, line: string): void {
  if (line === "ok") counts.answered += 1;
  else counts.failures.push(line.replace(/^fail /, ""));
}

/** Simulates a Service: forwards new connections to the Pod or, after the withdrawal, to the upstream. */
async function openService(environment: ClientEnvironment) {
  let lastTrafficMs = environment.clock.nowMs();
  let isWithdrawn = false;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const isToPod = !isWithdrawn;
    const [host, port] = isToPod ? [environment.pod, PROXY_PORTS.web] : [environment.upstream, UPSTREAM_PORTS.http2];
    const serverSocket = connect({ host, port, localAddress: environment.sourceAddress, noDelay: true });
    for (const socket of [client, serverSocket]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    serverSocket.on("data", () => {
      if (isToPod) lastTrafficMs = environment.clock.nowMs();
    });
    client.pipe(serverSocket).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    lastTrafficMs: () => lastTrafficMs,
    withdraw: () => {
      isWithdrawn = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
