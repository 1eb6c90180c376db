import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";
import { createRequestCounter, DEFAULT_LOAD, startLoad } from "../../src/demo/load/load.ts";
import { eventually } from "../time/eventually.ts";

const NO_CLIENTS = { ...DEFAULT_LOAD, newConnectionClients: 0, pooledClients: 0, slowClients: 0, endlessClients: 0 };

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Counts the requests of every connection. */
async function startCountingServer(delayMs = 0) {
  const requestsPerConnection: number[] = [];
  const paths: string[] = [];
  const connectionIndexes = new WeakMap<object, number>();
  server = createServer((request, response) => {
    const index = connectionIndexes.get(request.socket) ?? requestsPerConnection.push(0) - 1;
    connectionIndexes.set(request.socket, index);
    requestsPerConnection[index] = (requestsPerConnection[index] ?? 0) + 1;
    paths.push(request.url ?? "");
    setTimeout(() => response.end("hi"), delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const counter = createRequestCounter();
  const ports = {
    clock: realClock,
    counter,
    random: Math.random,
    target: {
      clock: realClock,
      host: "127.0.0.1",
      port,
      localAddress: "127.0.0.1",
      timeoutMs: 40_000,
      wasRefused: () => false,
    },
  };
  return { ports, counter, requestsPerConnection, paths, port };
}

test("a new-connection client sends one request per connection", async () => {
  const { ports, requestsPerConnection, counter } = await startCountingServer();
  const load = startLoad({ ...NO_CLIENTS, newConnectionClients: 2 }, ports);
  await eventually(() => expect(requestsPerConnection.length).toBeGreaterThan(10));
  await load.stop();
  expect(Math.max(...requestsPerConnection)).toBe(1);
  expect(counter.counts()).toMatchObject({ requests: requestsPerConnection.length, failed: 0 });
});

test("a pooled connection is replaced between two requests after its maximum age", async () => {
  const { ports, requestsPerConnection, counter } = await startCountingServer();
  const load = startLoad({ ...NO_CLIENTS, pooledClients: 1, maxConnectionMs: 400 }, ports);
  await eventually(() => expect(requestsPerConnection.length).toBeGreaterThan(3));
  await load.stop();
  expect(Math.max(...requestsPerConnection)).toBeGreaterThan(1);
  expect(counter.counts().failed).toBe(0);
});

test("a client of --endless-clients never closes its connection", async () => {
  const { ports, requestsPerConnection } = await startCountingServer();
  const load = startLoad({ ...NO_CLIENTS, endlessClients: 1, maxConnectionMs: 100 }, ports);
  await eventually(() => expect(requestsPerConnection[0] ?? 0).toBeGreaterThan(20));
  await load.stop();
  expect(requestsPerConnection).toHaveLength(1);
});

test("stop() of the load waits for active requests and counts their results", async () => {
  const { ports, counter, paths, port } = await startCountingServer(700);
  const load = startLoad(NO_CLIENTS, ports);
  load.requestLong("127.0.0.1", port, 5_000);
  await eventually(() => expect(paths).toEqual(["/slow?ms=5000"]));
  await load.stop();
  expect(counter.counts().clients.long).toEqual({ requests: 1, failed: 0 });
});
