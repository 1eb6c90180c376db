/** Opens a server's port and explains failures. */
import { once } from "node:events";
import type { Server } from "node:net";
import { Fault } from "./fault.ts";

/** The loopback addresses, in the order in which a port-forward tries them. */
export const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];
const EVERY_ADDRESS: readonly string[] = ["::", "0.0.0.0"];
/** Errors on a node that does not support the address family. */
const NO_FAMILY = ["EAFNOSUPPORT", "EADDRNOTAVAIL"];

export type PortWanted = {
  /** Identifies the port in errors; empty if the program has only one. */
  readonly name: string;
  /** If empty, the server listens on all addresses, IPv6 included; for a list, on the first address whose family the node supports. */
  readonly host: string | readonly string[];
  /** 0: any free port. */
  readonly port: number;
  /** Default: `server.listen`. */
  readonly listen?: (host: string) => Promise<unknown>;
};

/** @throws Fault ERR_LISTEN_FAILED if the port is in use, or if the server may not or cannot listen on the host */
export async function openPort(server: Server, wanted: PortWanted): Promise<{ host: string; port: number }> {
  const { host, port } = wanted;
  const listen = wanted.listen ?? ((at: string) => once(server.listen({ host: at, port }), "listening"));
  try {
    const [first = "", second] = typeof host !== "string" ? host : host === "" ? EVERY_ADDRESS : [host];
    await listen(first).catch(async (error: unknown) => {
      if (second === undefined || !NO_FAMILY.includes(codeOf(error))) throw error;
      await listen(second);
    });
  } catch (error) {
    throw new Fault("ERR_LISTEN_FAILED", sentenceFor(codeOf(error), wanted), error);
  }
  const address = server.address();
  if (address !== null && typeof address !== "string") return { host: address.address, port: address.port };
  throw new Fault("ERR_LISTEN_FAILED", `${placeOf(wanted)}: no address was assigned`);
}

function sentenceFor(code: string, wanted: PortWanted): string {
  const { host } = wanted;
  const where = placeOf(wanted);
  if (code === "EADDRINUSE") return `${where} is in use by another process`;
  if (code === "EACCES") return `${where} requires privileges that this process does not have`;
  const isOneHost = typeof host === "string" && host !== "";
  if (isOneHost && (code === "EADDRNOTAVAIL" || code === "ENOTFOUND"))
    return `${host} is not an address of this machine`;
  return `${where}: ${code}`;
}

function placeOf({ name, host, port }: PortWanted): string {
  const at = typeof host === "string" && host !== "" ? ` of ${host}` : "";
  return `${name} port ${port}${at}`.trimStart();
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
