/** Prints the sockets of port 8080 that the kernel destroyed, as lines of JSON, and whether the queue was complete. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import { createDestroyedSockets } from "../../src/manager/sockets/destroyed-sockets.ts";
import type { TcpSocket } from "../../src/manager/sockets/reading.ts";

const PORT = 8_080;

if (spawnSync("ip", ["link", "set", "lo", "up"]).status !== 0) throw new Error("cannot set the loopback device up");
const queue = createDestroyedSockets(loadNodeLibc());
const server = createServer((socket) => socket.once("data", () => socket.end("answer")));
await new Promise<void>((resolve) => server.listen(PORT, "::", resolve));

await request("127.0.0.1");
queue.start();
await request("127.0.0.1");
await request("::1");
server.close();
await once(server, "close");

// The kernel destroys a socket after the last reference to it, which can be after the event `close`; the first one too.
const found: TcpSocket[] = [];
let isComplete = true;
while (!found.some(isListener) || found.filter((socket) => !isListener(socket)).length < 2) {
  const onSocket = (socket: TcpSocket): void => {
    if (socket.localPort === PORT) found.push(socket);
  };
  isComplete = queue.readAll(onSocket) && isComplete;
  await new Promise((resolve) => setImmediate(resolve));
}
for (const { family, peerPort, receiveQueue, dataSegmentsReceived, dataSegmentsSent } of found)
  print({ family, isListener: peerPort === 0, receiveQueue, dataSegmentsReceived, dataSegmentsSent });
print({ isComplete });

function isListener({ peerPort }: TcpSocket): boolean {
  return peerPort === 0;
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function request(address: string): Promise<void> {
  const client = connect(PORT, address);
  client.write("request");
  client.resume();
  await once(client, "close");
}
