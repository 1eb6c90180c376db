/** gRPC: grpcio's server and client, each a process of its own. */
import { startPeer } from "../harness/peer-process.ts";
import { programOf } from "../install/program-of.ts";
import { endings, LONG_MS, OFTEN_MS, type Place, type Play, pause, type Scene, SELDOM_MS } from "./scene.ts";

const PROTOCOL = "gRPC";
const PEER = new URL("./grpc-peer.py", import.meta.url).pathname;

export const GRPC_SCENES: readonly Scene[] = [
  {
    protocol: PROTOCOL,
    client: "waits for an answer, and keeps the channel",
    needs: "grpcio",
    play: (place) => calls({ ...place, calls: [`Wait=${LONG_MS}`] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and keeps the channel",
    needs: "grpcio",
    play: (place) => calls({ ...place, calls: ["Wait=0"] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for one answer, and has got a later one on the same channel",
    needs: "grpcio",
    play: (place) => calls({ ...place, calls: [`Wait=${2 * LONG_MS}`, "Wait=0"] }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "gRPC stream",
    client: "listens to messages less than a quiet period apart",
    needs: "grpcio",
    play: (place) => calls({ ...place, calls: [`Stream=${OFTEN_MS}`] }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: "gRPC stream",
    client: "listens to messages more than a quiet period apart",
    needs: "grpcio",
    play: (place) => calls({ ...place, calls: [`Stream=${SELDOM_MS}`] }),
    endings: endings("unsure", "deadline", "deadline", "quiet"),
  },
];

type Calls = Place & { readonly calls: readonly string[] };

/** Told to drain, the app ends its streams and stops its server, which sends GOAWAY and finishes the calls it has. */
async function calls({ address, port, calls: made }: Calls): Promise<Play> {
  let work = 0;
  let lastTrafficMs = performance.now();
  const grpc = await programOf("grpcio");
  if (grpc.kind === "missing") throw new Error(grpc.why);
  const server = await startPeer(grpc, [PEER, "serve", address, String(port)], (word) => {
    lastTrafficMs = performance.now();
    if (word === "begin") work += 1;
    if (word === "end") work -= 1;
  });
  const client = await startPeer(grpc, [PEER, "call", address, String(port), ...made], () => {}).catch(
    async (error) => {
      await server.stop();
      throw error;
    },
  );
  await pause(5 * OFTEN_MS);
  return {
    openWork: () => work,
    // A channel is one connection, and its owner keeps it.
    openConnections: () => 1,
    lastTrafficMs: () => lastTrafficMs,
    sendAway: () => server.write("leave"),
    end: async () => {
      await Promise.all([client.stop(), server.stop()]);
    },
  };
}
