/**
 * A port of an address that others use too. For what is let go and taken again, or connected to while nothing listens
 * there; where the address may be chosen, any port of an `ownAddress` does.
 */
import type { Server } from "node:net";
import { bindAbstractSocket } from "../../src/demo/network/loopback-network.ts";

/** Below what any kernel hands out by itself, and no port that a program here has by default. */
const FIRST = 11_000;
const COUNT = 6_000;

/** Listens on a port that no other test of this machine takes as long as this process lives. @throws when none is left */
export async function listenOnOwnPort(server: Server, host: string): Promise<number> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = FIRST + ((process.pid + tries) % COUNT);
    if (bindAbstractSocket(`lastcall-port-${port}`) && (await listensOn(server, port, host))) return port;
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is left`);
}

function listensOn(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      server.removeListener("listening", listening);
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    };
    const listening = (): void => {
      server.removeListener("error", failed);
      resolve(true);
    };
    server.once("error", failed);
    server.once("listening", listening);
    server.listen(port, host);
  });
}
