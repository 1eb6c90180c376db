/** Opens the port, and says in words why it cannot. */
import { Fault } from "../fault.ts";
import { LISTENING } from "./intake/more-listeners.ts";
import type { WebhookServer } from "./server.ts";

type ListeningAddress = { readonly host: string; readonly port: number };

/**
 * An empty host means every address, of IPv6 too where the node has it.
 *
 * @param demandFree rejects when another socket has the port
 * @throws Fault ERR_LISTEN_FAILED
 */
export async function listen(
  app: WebhookServer,
  host: string,
  port: number,
  demandFree: (host: string, port: number) => Promise<void>,
): Promise<ListeningAddress> {
  const open = async (at: string): Promise<void> => {
    await demandFree(at, port);
    await app.listen({ ...LISTENING, host: at, port });
  };
  try {
    await openPort(open, host);
  } catch (error) {
    throw new Fault("ERR_LISTEN_FAILED", sentenceFor(codeOf(error), host, port), error);
  }
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Fault("ERR_LISTEN_FAILED", "no address was assigned");
  return { host: address.address, port: address.port };
}

async function openPort(open: (host: string) => Promise<void>, host: string): Promise<void> {
  if (host !== "") return open(host);
  try {
    await open("::");
  } catch (error) {
    // A node without IPv6 has no such address.
    if (!["EAFNOSUPPORT", "EADDRNOTAVAIL"].includes(codeOf(error))) throw error;
    await open("0.0.0.0");
  }
}

function sentenceFor(code: string, host: string, port: number): string {
  const where = host === "" ? `port ${port}` : `port ${port} of ${host}`;
  if (code === "EADDRINUSE") return `${where} is in use by another process`;
  if (code === "EACCES") return `${where} needs more rights than this process has`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return `${host} is no address of this machine`;
  return `${where}: ${code}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
