import { createServer, type Server } from "node:http";
import { connect as connectTcp } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";
import { openConnection } from "../../src/demo/load/http-client.ts";
import { createLoopbackNetwork } from "../../src/demo/network/loopback-network.ts";
import { type ServiceProxy, startServiceProxy } from "../../src/demo/network/service-proxy.ts";
import { eventually } from "../time/eventually.ts";
import { pause } from "../time/pause.ts";

const NETWORK = createLoopbackNetwork();
/** Every server of a test listens on the same port, each on an address of its own. */
const PORT = 18_080;
const LATE_MS = 700;

let arrive = (): void => undefined;
let arrivals = new Promise<void>(() => undefined);
const arrival = (stop?: AbortSignal): Promise<void> =>
  Promise.race([arrivals, new Promise<void>((resolve) => stop?.addEventListener("abort", () => resolve()))]);

let proxy: ServiceProxy;
let servers: Server[] = [];

beforeEach(async () => {
  arrivals = new Promise((resolve) => {
    arrive = resolve;
  });
  proxy = await startServiceProxy({
    // The change arrives when the test says so; nothing else of the proxy is late enough to be seen.
    clock: { nowMs: realClock.nowMs, wait: (ms, stop) => (ms === LATE_MS ? arrival(stop) : realClock.wait(ms, stop)) },
    network: NETWORK,
    port: 0,
    targetPort: PORT,
    propagationMs: LATE_MS,
  });
});
afterEach(async () => {
  await proxy.close();
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  servers = [];
});

/** A Pod that answers with its own address and counts its requests. */
async function podAnswering(): Promise<{ address: string; requests: () => number }> {
  const { address } = await NETWORK.attach();
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end("hi");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(PORT, address, resolve));
  return { address, requests: () => requests };
}

function client() {
  return openConnection({
    clock: realClock,
    host: NETWORK.serviceAddress,
    port: proxy.port,
    localAddress: NETWORK.trafficAddress,
    timeoutMs: 40_000,
    wasRefused: proxy.wasRefused,
  });
}

const ask = () => client().request("/", false);
const ready = (address: string) => ({ address, serving: true, terminating: false });

test("new connections go to a Pod that ends until the change has arrived, and to the others afterwards", async () => {
  const [a, b] = [await podAnswering(), await podAnswering()];
  proxy.tell(ready(a.address));
  proxy.tell(ready(b.address));
  proxy.catchUp();
  proxy.tell({ ...ready(a.address), terminating: true });
  await ask();
  await ask();
  expect([a.requests(), b.requests()]).toEqual([1, 1]);
  arrive();
  await pause(0, "what waits for the change goes on first");
  await ask();
  await ask();
  expect([a.requests(), b.requests()]).toEqual([1, 3]);
});

test("a connection that is open stays with its Pod after the change has arrived", async () => {
  const [a, b] = [await podAnswering(), await podAnswering()];
  proxy.tell(ready(a.address));
  proxy.catchUp();
  const kept = client();
  await kept.request("/", true);
  proxy.tell({ address: a.address, gone: true });
  proxy.tell(ready(b.address));
  proxy.catchUp();
  expect(await kept.request("/", true)).toEqual({ failure: undefined });
  expect([a.requests(), b.requests()]).toEqual([2, 0]);
  kept.close();
});

test("a Pod that refuses is told from one that resets", async () => {
  const { address } = await NETWORK.attach();
  proxy.tell(ready(address));
  proxy.catchUp();
  expect(await ask()).toEqual({ failure: "refused" });
});

test("a Service without endpoints refuses", async () => {
  expect(await ask()).toEqual({ failure: "refused" });
});

test("an orderly close and a reset of the Pod both reach the client as what they are", async () => {
  const { address } = await NETWORK.attach();
  const endings: ("close" | "reset")[] = ["close", "reset"];
  const server = createServer();
  server.on("connection", (socket) => {
    socket.removeAllListeners("data");
    socket.once("data", () => (endings.shift() === "close" ? socket.end() : socket.resetAndDestroy()));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(PORT, address, resolve));
  proxy.tell(ready(address));
  proxy.catchUp();
  expect(await ask()).toEqual({ failure: "closed-unanswered" });
  expect(await ask()).toEqual({ failure: "reset" });
});

test("a thousand requests through the proxy lose nothing, and every connection to a Pod is closed again", async () => {
  const a = await podAnswering();
  proxy.tell(ready(a.address));
  proxy.catchUp();
  for (let round = 0; round < 20; round++) {
    const results = await Promise.all(Array.from({ length: 50 }, ask));
    expect(results.filter((result) => result.failure !== undefined)).toEqual([]);
  }
  expect(a.requests()).toBe(1_000);
  await eventually(() => expect(proxy.forwarded().filter((one) => one.toMs < 0).length).toBe(0));
});

test("a client that vanishes within a request takes its connection to the Pod along", async () => {
  const { address } = await NETWORK.attach();
  const closed = new Promise<void>((resolve) => {
    const server = createServer(() => {});
    server.on("connection", (socket) => {
      socket.on("error", () => {});
      socket.once("close", () => resolve());
    });
    servers.push(server);
    server.listen(PORT, address);
  });
  await eventually(() => expect(servers.at(-1)?.listening).toBe(true));
  proxy.tell(ready(address));
  proxy.catchUp();
  const socket = connectTcp(proxy.port, NETWORK.serviceAddress);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect(proxy.forwarded().length).toBe(1));
  socket.resetAndDestroy();
  await closed;
});
