/** Opens the admin port and keeps its connections short; the only part of the page with timers. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Fault } from "../../fault.ts";
import type { AdminParts } from "./admin-answers.ts";
import { adminServer } from "./admin-server.ts";

export type OpenAdmin = {
  readonly port: number;
  /** Cuts what is open: nothing here is worth waiting for. */
  readonly close: () => Promise<void>;
};

/** No answer takes longer to read; in milliseconds. */
const CONNECTION_LIMIT_MS = 30_000;

/** On every address, of IPv6 too where the node has it; port 0 takes a free one. @throws Fault ERR_LISTEN_FAILED */
export async function openAdmin(parts: AdminParts, port: number): Promise<OpenAdmin> {
  const server = adminServer({ ...parts, nowMs: () => performance.now() });
  server.on("connection", (socket) => {
    const limit = setTimeout(() => socket.destroy(), CONNECTION_LIMIT_MS);
    socket.once("close", () => clearTimeout(limit));
  });
  const listen = async (host: string): Promise<void> => {
    server.listen({ host, port });
    await once(server, "listening");
  };
  try {
    await listen("::").catch(async (error: unknown) => {
      // A node without IPv6 has no such address.
      if (!["EAFNOSUPPORT", "EADDRNOTAVAIL"].includes(codeOf(error))) throw error;
      await listen("0.0.0.0");
    });
  } catch (error) {
    throw new Fault("ERR_LISTEN_FAILED", `admin port ${port}: ${codeOf(error)}`, error);
  }
  return {
    port: addressOf(server.address()).port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === "string") {
    throw new Fault("ERR_LISTEN_FAILED", "no address was assigned to the admin port");
  }
  return address;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
