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
/** All servers of a test listen on this port, each on its own address. */
const PORT = 18_080;
const PROPAGATION_MS = 700;

let propagate = (): void => undefined;
let propagated = new Promise<void>(() => undefined);
const propagation = (stop?: AbortSignal): Promise<void> =>
  Promise.race([propagated, new Promise<void>((resolve) => stop?.addEventListener("abort", () => resolve()))]);

let proxy: ServiceProxy;
let servers: Server[] = [];

beforeEach(async () => {
  propagated = new Promise((resolve) => {
    propagate = resolve;
  });
  proxy = await startServiceProxy({
    // propagate() ends the wait of every change.
    clock: {
      nowMs: realClock.nowMs,
      wait: (ms, stop) => (ms === PROPAGATION_MS ? propagation(stop) : realClock.wait(ms, stop)),
    },
    network: NETWORK,
    port: 0,
    targetPort: PORT,
    propagationMs: PROPAGATION_MS,
  });
});
afterEach(async () => {
  await proxy.close();
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  servers = [];
});

/** A Pod that counts its requests. */
async function servingPod(): Promise<{ address: string; requests: () => number }> {
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

const send = () => client().request("/", false);
const ready = (address: string) => ({ address, serving: true, terminating: false });

test("new connections go to a terminating Pod until the proxy applies the change of its endpoint, and to other Pods afterwards", async () => {
  const [a, b] = [await servingPod(), await servingPod()];
  proxy.enqueue(ready(a.address));
  proxy.enqueue(ready(b.address));
  proxy.flush();
  proxy.enqueue({ ...ready(a.address), terminating: true });
  await send();
  await send();
  expect([a.requests(), b.requests()]).toEqual([1, 1]);
  propagate();
  await pause(0, "the proxy applies the change first");
  await send();
  await send();
  expect([a.requests(), b.requests()]).toEqual([1, 3]);
});

test("an open connection stays with its Pod after the proxy removed the Pod's endpoint", async () => {
  const [a, b] = [await servingPod(), await servingPod()];
  proxy.enqueue(ready(a.address));
  proxy.flush();
  const keepAliveClient = client();
  await keepAliveClient.request("/", true);
  proxy.enqueue({ address: a.address, gone: true });
  proxy.enqueue(ready(b.address));
  proxy.flush();
  expect(await keepAliveClient.request("/", true)).toEqual({ failure: undefined });
  expect([a.requests(), b.requests()]).toEqual([2, 0]);
  keepAliveClient.close();
});

test("a connection that the Pod refuses is reported as refused, not as reset", async () => {
  const { address } = await NETWORK.attach();
  proxy.enqueue(ready(address));
  proxy.flush();
  expect(await send()).toEqual({ failure: "refused" });
});

test("a Service without endpoints refuses connections", async () => {
  expect(await send()).toEqual({ failure: "refused" });
});

test("the client sees a FIN of the Pod as a close and an RST as a reset", async () => {
  const { address } = await NETWORK.attach();
  const endings: ("close" | "reset")[] = ["close", "reset"];
  const server = createServer();
  server.on("connection", (socket) => {
    socket.removeAllListeners("data");
    socket.once("data", () => (endings.shift() === "close" ? socket.end() : socket.resetAndDestroy()));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(PORT, address, resolve));
  proxy.enqueue(ready(address));
  proxy.flush();
  expect(await send()).toEqual({ failure: "closed-unanswered" });
  expect(await send()).toEqual({ failure: "reset" });
});

test("a thousand requests succeed, and all connections to the Pod are closed afterwards", async () => {
  const a = await servingPod();
  proxy.enqueue(ready(a.address));
  proxy.flush();
  for (let round = 0; round < 20; round++) {
    const results = await Promise.all(Array.from({ length: 50 }, send));
    expect(results.filter((result) => result.failure !== undefined)).toEqual([]);
  }
  expect(a.requests()).toBe(1_000);
  await eventually(() => expect(proxy.forwardedConnections().filter((one) => one.toMs < 0).length).toBe(0));
});

test("a client's reset within a request closes the connection to the Pod", async () => {
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
  proxy.enqueue(ready(address));
  proxy.flush();
  const socket = connectTcp(proxy.port, NETWORK.serviceAddress);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect(proxy.forwardedConnections().length).toBe(1));
  socket.resetAndDestroy();
  await closed;
});
