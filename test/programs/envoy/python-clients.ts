/** Clients that Node has none for: gRPC with a real library, and HTTP/3. Each load is a process of Python. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { startPeer } from "../harness/peer-process.ts";
import type { Clients, Peers, Place, Tally } from "./scene.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

const GRPC_LOAD = new URL("./grpc-load.py", import.meta.url).pathname;
const HTTP3_PEER = new URL("./http3-peer.py", import.meta.url).pathname;

/** Channels live for ever; where they are sent away they connect again, and find the Pod until it is out of rotation. */
export function grpcioClients(channels: number, paceMs: number): (place: Place & Peers) => Promise<Clients> {
  return async (place) => {
    const tally: Tally = { answered: 0, failures: [] };
    const service = await openService(place);
    const words = [GRPC_LOAD, "127.0.0.1", service.port, channels, paceMs].map(String);
    const peer = await startPeer(place.grpcio, words, (line) => count(tally, line));
    return {
      tally,
      lastMs: service.lastMs,
      withdraw: service.withdraw,
      stop: async () => {
        await peer.stop();
        service.close();
      },
    };
  };
}

/** @param paceMs 0 asks once and keeps the connection. Clients that are sent away leave, and ask no one else. */
export function http3Clients(clients: number, paceMs: number): (place: Place & Peers) => Promise<Clients> {
  return async ({ clock, pod, http3 }) => {
    const tally: Tally = { answered: 0, failures: [] };
    let lastMs = clock.nowMs();
    const peer = await startPeer(http3, [HTTP3_PEER, pod, PROXY.http3, clients, paceMs].map(String), (line) => {
      if (line === "away") return;
      count(tally, line);
      lastMs = clock.nowMs();
    });
    return { tally, lastMs: () => lastMs, withdraw: () => {}, stop: peer.stop };
  };
}

function count(tally: Tally, line: string): void {
  if (line === "ok") tally.answered += 1;
  else tally.failures.push(line.replace(/^fail /, ""));
}

/** A Service: hands each connection to the Pod, or elsewhere once that is withdrawn; open ones stay where they are. */
async function openService(place: Place) {
  let lastMs = place.clock.nowMs();
  let withdrawn = false;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const toPod = !withdrawn;
    const [host, port] = toPod ? [place.pod, PROXY.web] : [place.other, UPSTREAM.http2];
    const there = connect({ host, port, localAddress: place.from, noDelay: true });
    for (const socket of [client, there]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    there.on("data", () => {
      if (toPod) lastMs = place.clock.nowMs();
    });
    client.pipe(there).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = server.address();
  return {
    port: typeof at === "object" && at !== null ? at.port : 0,
    lastMs: () => lastMs,
    withdraw: () => {
      withdrawn = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
