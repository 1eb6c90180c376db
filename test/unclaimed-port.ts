/** For a port that is let go and taken again: the kernel gives those of its own range to whoever asks meanwhile. */
import type { Server } from "node:net";

/** Below what any kernel hands out by itself, and no port that a program here has by default. */
const FIRST = 11_000;
const COUNT = 6_000;
const TRIES = 100;

/** Listens on a port that no other program comes by unless it names it. @throws when a hundred of them are in use */
export async function listenUnclaimed(server: Server, host: string): Promise<number> {
  for (let time = 0; time < TRIES; time += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await listensOn(server, port, host)) return port;
  }
  throw new Error(`no port of ${FIRST} to ${FIRST + COUNT} was free`);
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
