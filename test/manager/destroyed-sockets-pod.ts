/** Prints the sockets of port 8080 that the kernel destroyed, as lines of JSON, and whether the queue was complete. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import { createDestroyedSockets } from "../../src/manager/sockets/destroyed-sockets.ts";
import { AF_INET, AF_INET6 } from "../../src/manager/sockets/netlink-message.ts";
import type { TcpSocket } from "../../src/manager/sockets/reading.ts";

const PORT = 8_080;

if (spawnSync("ip", ["link", "set", "lo", "up"]).status !== 0) throw new Error("cannot set the loopback device up");
const queue = createDestroyedSockets(loadNodeLibc());
const servers = ["127.0.0.1", "::1"].map((host) => {
  const server = createServer((socket) => socket.once("data", () => socket.end("answer")));
  return server.listen(PORT, host);
});
await Promise.all(servers.map((server) => once(server, "listening")));

await sendRequest("127.0.0.1");
queue.start();
await sendRequest("127.0.0.1");
await sendRequest("::1");
for (const server of servers) server.close();

// The kernel destroys a socket when no reference to the socket is left, which can be after Node's event `close`. The queue may
// therefore also contain the sockets of the first request, which ended before the queue started.
const destroyedSockets: TcpSocket[] = [];
let isComplete = true;
while (!hasConnectionAndListener(AF_INET) || !hasConnectionAndListener(AF_INET6)) {
  const onSocket = (socket: TcpSocket): void => {
    if (socket.localPort === PORT) destroyedSockets.push(socket);
  };
  isComplete = queue.readAll(onSocket) && isComplete;
  await new Promise((resolve) => setImmediate(resolve));
}
for (const { family, peerPort, dataSegmentsReceived, dataSegmentsSent } of destroyedSockets)
  print({ family, isListener: peerPort === 0, dataSegmentsReceived, dataSegmentsSent });
print({ isComplete });

function hasConnectionAndListener(family: number): boolean {
  const sockets = destroyedSockets.filter((socket) => socket.family === family);
  return sockets.some(isListener) && !sockets.every(isListener);
}

function isListener({ peerPort }: TcpSocket): boolean {
  return peerPort === 0;
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function sendRequest(address: string): Promise<void> {
  const client = connect(PORT, address);
  client.write("request");
  client.resume();
  await once(client, "close");
}
