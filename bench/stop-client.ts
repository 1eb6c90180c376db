/**
 * Runs the clients of `bench/stops.ts` in their own network namespace: sends requests until stdin ends, half of the clients on
 * a new connection each time, and prints the numbers of requests and of failures.
 *
 * Arguments: address and port of the app, number of clients, pause between two requests of a client in ms.
 */
import { connect, type Socket } from "node:net";
import { pause } from "../test/time/pause.ts";

const [host = "", port = "", clients = "", pauseMs = ""] = process.argv.slice(2);
const counts = { requests: 0, failed: 0 };
let isEnding = false;

process.stdin.on("end", () => {
  isEnding = true;
});
process.stdin.resume();
await Promise.all(Array.from({ length: Number(clients) }, (_, index) => runClient(index % 2 === 0)));
process.stdout.write(`${JSON.stringify(counts)}\n`);

async function runClient(keepsConnections: boolean): Promise<void> {
  let connection: Connection | undefined;
  while (!isEnding) {
    if (connection?.isOpen() !== true || !keepsConnections) connection = openConnection();
    counts.requests += 1;
    const isAnswered = await connection.request(keepsConnections);
    if (!isAnswered) counts.failed += 1;
    await pause(Number(pauseMs), "limits the rate of requests");
  }
  connection?.close();
}

type Connection = {
  readonly isOpen: () => boolean;
  /** @returns whether the response was complete before the connection ended */
  readonly request: (keepAlive: boolean) => Promise<boolean>;
  readonly close: () => void;
};

function openConnection(): Connection {
  const socket: Socket = connect({ host, port: Number(port), noDelay: true });
  let text = "";
  let isOpen = true;
  let finish = (_isAnswered: boolean): void => undefined;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (text.endsWith("\r\n\r\nok")) finish(true);
  });
  socket.on("error", () => undefined);
  socket.on("end", () => {
    isOpen = false;
  });
  socket.on("close", () => {
    isOpen = false;
    finish(false);
  });
  return {
    isOpen: () => isOpen,
    request: (keepAlive) =>
      new Promise((resolve) => {
        text = "";
        finish = resolve;
        const header = keepAlive ? "keep-alive" : "close";
        socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: ${header}\r\n\r\n`);
        if (!isOpen) resolve(false);
      }),
    close: () => socket.end(),
  };
}
