/** Defines the scenarios of gRPC, with grpcio's server and client in separate processes. */
import { startPeer } from "../harness/peer-process.ts";
import { findProgram } from "../install/program-of.ts";
import {
  endings,
  LONG_INTERVAL_MS,
  LONG_REQUEST_MS,
  pause,
  type RunningScenario,
  type Scenario,
  type ServerAddress,
  SHORT_INTERVAL_MS,
} from "./protocol-scenario.ts";

const PROTOCOL = "gRPC";
const GRPC_PEER = new URL("./grpc-peer.py", import.meta.url).pathname;

export const GRPC_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    behaviour: "waits for a response, and keeps the channel",
    requiredProgram: "grpcio",
    start: (serverAddress) => startCalls({ ...serverAddress, calls: [`Wait=${LONG_REQUEST_MS}`] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has its response, and keeps the channel",
    requiredProgram: "grpcio",
    start: (serverAddress) => startCalls({ ...serverAddress, calls: ["Wait=0"] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for one response, and has received a later response on the same channel",
    requiredProgram: "grpcio",
    start: (serverAddress) => startCalls({ ...serverAddress, calls: [`Wait=${2 * LONG_REQUEST_MS}`, "Wait=0"] }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
  {
    protocol: "gRPC stream",
    behaviour: "reads messages less than a quiet period apart",
    requiredProgram: "grpcio",
    start: (serverAddress) => startCalls({ ...serverAddress, calls: [`Stream=${SHORT_INTERVAL_MS}`] }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: "gRPC stream",
    behaviour: "reads messages more than a quiet period apart",
    requiredProgram: "grpcio",
    start: (serverAddress) => startCalls({ ...serverAddress, calls: [`Stream=${LONG_INTERVAL_MS}`] }),
    endings: endings("unsure", "deadline", "deadline", "quiet"),
  },
];

type CallOptions = ServerAddress & { readonly calls: readonly string[] };

/** When a drain starts, the app ends its streams and stops its server, which sends GOAWAY and finishes open calls. */
async function startCalls({ address, port, calls: callArguments }: CallOptions): Promise<RunningScenario> {
  let activeRequests = 0;
  let lastTrafficMs = performance.now();
  const grpc = await findProgram("grpcio");
  if (grpc.kind === "missing") throw new Error(grpc.reason);
  const server = await startPeer(grpc, [GRPC_PEER, "serve", address, String(port)], (line) => {
    lastTrafficMs = performance.now();
    if (line === "start") activeRequests += 1;
    if (line === "end") activeRequests -= 1;
  });
  const client = await startPeer(grpc, [GRPC_PEER, "call", address, String(port), ...callArguments], () => {}).catch(
    async (error) => {
      await server.stop();
      throw error;
    },
  );
  await pause(5 * SHORT_INTERVAL_MS);
  return {
    activeRequests: () => activeRequests,
    openConnections: () => 1,
    lastTrafficMs: () => lastTrafficMs,
    startDrain: () => server.write("drain"),
    stop: async () => {
      await Promise.all([client.stop(), server.stop()]);
    },
  };
}
