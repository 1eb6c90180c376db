/** Tests the thread of the demo's clients and proxy. */
import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { DEFAULT_LOAD } from "../../src/demo/load/load.ts";
import { startTraffic, type Traffic } from "../../src/demo/load/traffic.ts";
import { createLoopbackNetwork } from "../../src/demo/network/loopback-network.ts";

const network = createLoopbackNetwork();
const { serviceAddress, trafficAddress } = network;
const load = { ...DEFAULT_LOAD, slowClients: 0 };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("the clients' thread", () => {
  test("counts the requests to the applied endpoints, with times of the main thread's clock", async () => {
    const startedMs = performance.now();
    const pod = await startPod();
    const traffic = await startClients(pod.port);
    traffic.enqueue({ address: pod.address, serving: true, terminating: false });
    traffic.flush();
    traffic.start();
    await pod.firstRequest;
    const { counts, forwardedConnections } = await traffic.stop();
    const [connection] = forwardedConnections;
    expect(counts.requests).toBeGreaterThan(0);
    expect(counts.failed).toBe(0);
    expect(connection?.pod).toBe(pod.address);
    expect(connection?.fromMs).toBeGreaterThanOrEqual(startedMs);
    expect(connection?.fromMs).toBeLessThanOrEqual(performance.now());
  });

  test("causes a fault if its proxy cannot listen", async () => {
    const pod = await startPod(serviceAddress);
    await expect(startClients(pod.port)).rejects.toThrow(/^the demo failed: cannot listen on [^ ]+$/);
  });

  test("causes a fault at the stop if it has ended", async () => {
    const pod = await startPod();
    const traffic = await startClients(pod.port);
    await traffic.close();
    await expect(traffic.stop()).rejects.toThrow("the clients' thread exited");
  });
});

async function startClients(port: number): Promise<Traffic> {
  const traffic = await startTraffic({
    network: { serviceAddress, trafficAddress },
    port,
    propagationMs: 0,
    loadOptions: load,
  });
  closers.push(traffic.close);
  return traffic;
}

async function startPod(fixedAddress?: string) {
  const address = fixedAddress ?? (await network.attach()).address;
  const arrival = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    arrival.resolve();
    response.end("hi");
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server has no port");
  return { address, port: bound.port, firstRequest: arrival.promise };
}
