/** Opens a port of the relay's, and says in words why it cannot. */
import { once } from "node:events";
import type { Server } from "node:net";
import { Fault } from "../../fault.ts";

/** IPv6 is the second choice: `localhost` of a port-forward is tried in this order. */
export const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];
const EVERY_ADDRESS: readonly string[] = ["::", "0.0.0.0"];

/**
 * Listens on the first host whose address family the node has. An empty host means every address, of IPv6 too where the
 * node has it; port 0 takes a free one.
 *
 * @param name of the port, for the sentence
 * @returns the port that was opened
 * @throws Fault ERR_LISTEN_FAILED
 */
export async function openPort(
  server: Server,
  name: string,
  host: string | readonly string[],
  port: number,
): Promise<number> {
  const listen = async (address: string): Promise<void> => {
    server.listen({ host: address, port });
    await once(server, "listening");
  };
  try {
    const [first = "", second] = typeof host !== "string" ? host : host === "" ? EVERY_ADDRESS : [host];
    await listen(first).catch(async (error: unknown) => {
      // The node lacks this address family.
      if (second === undefined || !["EAFNOSUPPORT", "EADDRNOTAVAIL"].includes(codeOf(error))) throw error;
      await listen(second);
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
