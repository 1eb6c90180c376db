/**
 * Leases a port on a shared address, for tests that reopen the port or connect to it while no server listens.
 * If a test can choose the address, it uses an `ownAddress` instead, where every port is free.
 */
import type { Server } from "node:net";
import { bindAbstractSocket } from "../../src/demo/network/loopback-network.ts";

/** Below the kernel's ephemeral ports, and not a default port of the tested programs. */
const FIRST_PORT = 11_000;
const PORT_COUNT = 6_000;

/** Listens on a port that other tests of this machine cannot lease until this process ends. @throws if no port is free */
export async function listenOnOwnPort(server: Server, host: string): Promise<number> {
  for (let attempt = 0; attempt < PORT_COUNT; attempt += 1) {
    const port = FIRST_PORT + ((process.pid + attempt) % PORT_COUNT);
    if (bindAbstractSocket(`lastcall-port-${port}`) && (await tryToListen(server, port, host))) return port;
  }
  throw new Error(`no port from ${FIRST_PORT} to ${FIRST_PORT + PORT_COUNT - 1} is left`);
}

function tryToListen(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.removeListener("listening", onListening);
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    };
    const onListening = (): void => {
      server.removeListener("error", onError);
      resolve(true);
    };
    server.once("error", onError);
    server.once("listening", onListening);
    server.listen(port, host);
  });
}
