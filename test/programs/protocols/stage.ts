/** Keeps the books of a server in a scene: its connections, its open work, and when something last went either way. */
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import type { Play } from "./scene.ts";

export type Stage = {
  /** Counts the connections of a server, and lets it listen. */
  readonly open: (server: Server, address: string, port: number) => Promise<void>;
  /** Something was sent or received. */
  readonly note: () => void;
  /** A piece of work begins; the function returned ends it, once. */
  readonly begin: () => () => void;
  readonly sockets: () => readonly Socket[];
  /** Runs until the scene ends. */
  readonly every: (ms: number, what: () => void) => void;
  readonly play: (parts: StagePlay) => Play;
};

export type StagePlay = { readonly sendAway?: () => void; readonly endClient: () => void };

export function createStage(): Stage {
  const sockets = new Set<Socket>();
  const timers: NodeJS.Timeout[] = [];
  const servers: Server[] = [];
  let work = 0;
  let lastTrafficMs = performance.now();
  const note = () => {
    lastTrafficMs = performance.now();
  };
  return {
    open: async (server, address, port) => {
      server.on("connection", (socket: Socket) => {
        sockets.add(socket);
        note();
        socket.on("close", () => sockets.delete(socket));
        // Scenes end in the middle of things.
        socket.on("error", () => socket.destroy());
      });
      servers.push(server);
      server.listen(port, address);
      await once(server, "listening");
    },
    note,
    begin: () => {
      let open = true;
      work += 1;
      note();
      return () => {
        if (!open) return;
        open = false;
        work -= 1;
        note();
      };
    },
    sockets: () => [...sockets],
    every: (ms, what) => {
      timers.push(setInterval(what, ms));
    },
    play: ({ sendAway, endClient }) => ({
      openWork: () => work,
      openConnections: () => sockets.size,
      lastTrafficMs: () => lastTrafficMs,
      sendAway: sendAway ?? (() => {}),
      end: async () => {
        for (const timer of timers) clearInterval(timer);
        endClient();
        for (const socket of sockets) socket.destroy();
        await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
      },
    }),
  };
}
