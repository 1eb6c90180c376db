/** Opens the admin port and keeps its connections short; the only part of the page with timers. */
import { once } from "node:events";
import { LOOPBACK, openPort } from "../server/open-port.ts";
import type { AdminParts } from "./admin-answers.ts";
import { adminServer } from "./admin-server.ts";

export type OpenAdmin = {
  readonly port: number;
  /** Cuts what is open: nothing here is worth waiting for. */
  readonly close: () => Promise<void>;
};

/** No answer takes longer to read; in milliseconds. */
const CONNECTION_LIMIT_MS = 30_000;

/** Without authentication: `loopback` serves processes of the Pod and port-forwards, `all` also every other Pod. */
export type AdminListen = "loopback" | "all";

/** Port 0 takes a free one. @throws Fault ERR_LISTEN_FAILED */
export async function openAdmin(parts: AdminParts, port: number, listen: AdminListen = "loopback"): Promise<OpenAdmin> {
  const server = adminServer({ ...parts, nowMs: () => performance.now() });
  server.on("connection", (socket) => {
    const limit = setTimeout(() => socket.destroy(), CONNECTION_LIMIT_MS);
    socket.once("close", () => clearTimeout(limit));
  });
  return {
    port: await openPort(server, "admin port", listen === "all" ? "" : LOOPBACK, port),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
