/** Clients with a real gRPC library, in a process of their own, behind what a Service is to them: one address. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type PeerProgram, startPeer } from "./peer-process.ts";
import type { Clients, Place, Tally } from "./scene.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

const PEER = new URL("./grpc-load.py", import.meta.url).pathname;

/** Channels live for ever; where they are sent away they connect again, and find the Pod until it is out of rotation. */
export function grpcioClients(channels: number, paceMs: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const tally: Tally = { answered: 0, failures: [] };
    const service = await openService(place);
    const python: PeerProgram = place.grpcio;
    const peer = await startPeer(python, [PEER, "127.0.0.1", service.port, channels, paceMs].map(String), (line) => {
      if (line === "ok") tally.answered += 1;
      else tally.failures.push(line.replace(/^fail /, ""));
    });
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

/** Hands each connection to the Pod, or to someone else once that is withdrawn; what is open stays where it is. */
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
