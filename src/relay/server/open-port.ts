/** Opens a port of the relay. */
import { once } from "node:events";
import type { Server } from "node:net";
import { Fault } from "../../fault.ts";

/** In the order in which a port-forward tries `localhost`. */
export const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];
const EVERY_ADDRESS: readonly string[] = ["::", "0.0.0.0"];

/**
 * Listens on the first host whose address family the node has.
 *
 * @param name of the port, for the fault
 * @param host empty: every address, of IPv6 too where the node has it
 * @param port 0: a free one
 * @returns the open port
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
      if (second === undefined || !["EAFNOSUPPORT", "EADDRNOTAVAIL"].includes(codeOf(error))) throw error;
      await listen(second);
    });
  } catch (error) {
    throw new Fault("ERR_LISTEN_FAILED", `${name} ${port}: ${codeOf(error)}`, error);
  }
  const address = server.address();
  if (address !== null && typeof address !== "string") return address.port;
  throw new Fault("ERR_LISTEN_FAILED", `no address was assigned to the ${name}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
