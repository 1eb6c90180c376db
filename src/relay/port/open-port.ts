/** Opens a port of the relay's, and says in words why it cannot. */
import { once } from "node:events";
import type { Server } from "node:net";
import { Fault } from "../../fault.ts";

/**
 * An empty host means every address, of IPv6 too where the node has it; port 0 takes a free one.
 *
 * @param name of the port, for the sentence
 * @returns the port that was opened
 * @throws Fault ERR_LISTEN_FAILED
 */
export async function openPort(server: Server, name: string, host: string, port: number): Promise<number> {
  const listen = async (address: string): Promise<void> => {
    server.listen({ host: address, port });
    await once(server, "listening");
  };
  try {
    if (host !== "") await listen(host);
    else
      await listen("::").catch(async (error: unknown) => {
        // A node without IPv6 has no such address.
        if (!["EAFNOSUPPORT", "EADDRNOTAVAIL"].includes(codeOf(error))) throw error;
        await listen("0.0.0.0");
      });
  } catch (error) {
    throw new Fault("ERR_LISTEN_FAILED", `${name} ${port}: ${codeOf(error)}`, error);
  }
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Fault("ERR_LISTEN_FAILED", `no address was assigned to the ${name}`);
  return address.port;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
