/** Tracks the connections, the open requests and sessions, and the last traffic of a scenario's server. */
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import type { RunningScenario } from "./protocol-scenario.ts";

export type ServerActivity = {
  readonly listen: (server: Server, address: string, port: number) => Promise<void>;
  readonly recordTraffic: () => void;
  /** Counts a request or session as active. @returns a function that ends the request; only its first call has an effect */
  readonly beginRequest: () => () => void;
  readonly sockets: () => readonly Socket[];
  readonly repeatEvery: (ms: number, action: () => void) => void;
  readonly toRunningScenario: (parts: ScenarioParts) => RunningScenario;
};

export type ScenarioParts = { readonly startDrain?: () => void; readonly closeClient: () => void };

export function createServerActivity(): ServerActivity {
  const sockets = new Set<Socket>();
  const timers: NodeJS.Timeout[] = [];
  const servers: Server[] = [];
  let activeRequests = 0;
  let lastTrafficMs = performance.now();
  const recordTraffic = () => {
    lastTrafficMs = performance.now();
  };
  return {
    listen: async (server, address, port) => {
      server.on("connection", (socket: Socket) => {
        sockets.add(socket);
        recordTraffic();
        socket.on("close", () => sockets.delete(socket));
        socket.on("error", () => socket.destroy());
      });
      servers.push(server);
      server.listen(port, address);
      await once(server, "listening");
    },
    recordTraffic,
    beginRequest: () => {
      let isOpen = true;
      activeRequests += 1;
      recordTraffic();
      return () => {
        if (!isOpen) return;
        isOpen = false;
        activeRequests -= 1;
        recordTraffic();
      };
    },
    sockets: () => [...sockets],
    repeatEvery: (ms, action) => {
      timers.push(setInterval(action, ms));
    },
    toRunningScenario: ({ startDrain, closeClient }) => ({
      activeRequests: () => activeRequests,
      openConnections: () => sockets.size,
      lastTrafficMs: () => lastTrafficMs,
      startDrain: startDrain ?? (() => {}),
      stop: async () => {
        for (const timer of timers) clearInterval(timer);
        closeClient();
        for (const socket of sockets) socket.destroy();
        await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
      },
    }),
  };
}
