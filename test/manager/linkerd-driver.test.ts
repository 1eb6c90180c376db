/** Tests the Linkerd driver with a simulation of the documented admin interface, on the manager's Node and native builds. */
import { createServer, type Server } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { createLinkerdDriver } from "../../src/manager/drivers/linkerd/linkerd-driver.ts";
import { streamHttp } from "../../src/manager/http/http-client.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import { ONE_APP } from "./drain-script.ts";
import { call, endApp, endManagers, type Manager, startApp, startManager, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  endManagers();
});

type FakeProxy = {
  readonly url: string;
  /** Calls such as `POST /shutdown`. */
  readonly calls: readonly string[];
  /** Open connections of clients; undefined omits the metric. */
  clientCount: number | undefined;
  isHanging: boolean;
};

/** Starts a fake proxy with Prometheus text at `/metrics`. `/shutdown` returns 404, because Linkerd disables it by default. */
async function startProxy(): Promise<FakeProxy> {
  const calls: string[] = [];
  const server = createServer((req, res) => {
    calls.push(`${req.method} ${req.url}`);
    if (proxy.isHanging) return;
    if (req.url === "/metrics") res.end(metricsText(proxy.clientCount));
    else res.writeHead(req.url === "/live" || req.url === "/ready" ? 200 : 404).end();
  });
  cleanups.push(() => closeServer(server));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const proxy: FakeProxy = { url: `http://127.0.0.1:${port}`, calls, clientCount: 0, isHanging: false };
  return proxy;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

/** @returns metrics of inbound connections of two kinds, of connections to the app, and of outbound connections */
function metricsText(clients: number | undefined): string {
  const inboundLine = (peer: string, tls: string, n: number) =>
    `tcp_open_connections{direction="inbound",peer="${peer}",target_addr="10.0.0.5:8080",tls="${tls}"} ${n}\n`;
  const inboundLines =
    clients === undefined
      ? ""
      : inboundLine("src", "true", clients) + inboundLine("src", "no_identity", 0) + inboundLine("dst", "loopback", 3);
  return `# HELP tcp_open_connections Number of currently-open connections.
# TYPE tcp_open_connections gauge
${inboundLines}tcp_open_connections{direction="outbound",peer="src",target_addr="10.0.0.9:80"} 7
tcp_open_total{direction="inbound",peer="src"} 9
process_start_time_seconds 1700000000
`;
}

describeOnClock("a drain with Linkerd's proxy", (build) => {
  async function startPod(clock: TestClock, proxy: FakeProxy, timeout = "20s"): Promise<Manager> {
    const flags = ["--drain-delay=500ms", "--quiet-period=500ms", `--drain-timeout=${timeout}`, "--hooks=app:app"];
    const driverFlags = ["--driver=linkerd", `--driver-url=${proxy.url}`, "--drained-when=connections"];
    const manager = await startManager({ build, clock, flags: [...flags, ...driverFlags] });
    const app = await startApp(manager.address, 8_080, clock);
    cleanups.push(async () => {
      await endApp(app);
      manager.kill("SIGKILL");
      await manager.ended;
    });
    return manager;
  }

  const drainPod = async (manager: Manager): Promise<Record<string, unknown>> =>
    JSON.parse((await call(manager, `/${TOKEN}/drain`, "POST")).body);

  test.concurrent(
    "lasts until no client is connected, and the manager requests only the proxy's metrics",
    onClock(async (clock) => {
      const proxy = await startProxy();
      proxy.clientCount = 2;
      const manager = await startPod(clock, proxy);
      const drain = drainPod(manager);
      await clock.until(() => proxy.calls.length >= 3);
      proxy.clientCount = 0;
      const disconnectedMs = clock.nowMs();
      expect(await drain).toMatchObject({
        outcome: "drained",
        why: expect.stringContaining("no client was connected to the proxy for 500ms"),
      });
      expect(clock.nowMs() - disconnectedMs).toBeGreaterThanOrEqual(500);
      expect([...new Set(proxy.calls)]).toEqual(["GET /metrics"]);
    }),
  );

  test.concurrent(
    "ends at its deadline if a client stays connected",
    onClock(async (clock) => {
      const proxy = await startProxy();
      proxy.clientCount = 1;
      const end = await drainPod(await startPod(clock, proxy, "8s"));
      expect(end).toMatchObject({ outcome: "timeout" });
      expect(end["why"]).toContain("with 1 connection of clients to the proxy still open");
    }),
  );

  test.concurrent(
    "falls back to samples of sockets if the proxy's metrics do not contain the number of clients",
    onClock(async (clock) => {
      const proxy = await startProxy();
      proxy.clientCount = undefined;
      const manager = await startPod(clock, proxy);
      expect(await drainPod(manager)).toMatchObject({ outcome: "drained" });
      const messages = manager.lines().map((line) => `${line["message"]}: ${line["detail"]}`);
      expect(messages.join("\n")).toContain(
        "driver cannot count requests or connections; samples of the sockets determine the end of the drain: Linkerd's metrics do not show the connections of clients",
      );
    }),
  );
});

describe("the Linkerd driver", () => {
  const createDriver = (proxy: { readonly url: string }, messages: string[] = []) => {
    const settings = { ...ONE_APP, driver: "linkerd" as const, driverUrl: proxy.url };
    const driver = createLinkerdDriver(settings, streamHttp, (message, detail) =>
      messages.push(`${message}: ${detail}`),
    );
    return { driver, count: () => new Promise<number>((done) => driver.countActive(done)) };
  };

  test("counts the proxy's inbound connections of every kind, and not the connections of the app", async () => {
    const proxy = await startProxy();
    proxy.clientCount = 4;
    expect(await createDriver(proxy).count()).toBe(4);
  });

  test.for(["1e308", "1e9", "-1", "NaN"])(
    "reports an unknown count if two metrics of inbound connections are %s",
    async (n) => {
      const lines = ["true", "no_identity"].map(
        (tls) => `tcp_open_connections{direction="inbound",peer="src",tls="${tls}"} ${n}\n`,
      );
      const messages: string[] = [];
      const driver = createLinkerdDriver(
        { ...ONE_APP, driver: "linkerd", driverUrl: "" },
        (_call, onChunk, done) => {
          onChunk(Buffer.from(lines.join("")));
          done({ status: 200, failure: "", timedOut: false });
        },
        (message, detail) => messages.push(`${message}: ${detail}`),
      );
      expect(await new Promise((done) => driver.countActive(done))).toBe(-1);
      expect(driver.canCount()).toBe(false);
      expect(messages.join()).toContain("do not show the connections of clients");
    },
  );

  test.for(["unix:/run/linkerd.sock", "http://linkerd:4191"])(
    "rejects the proxy address %s without opening a connection",
    (url) => {
      const messages: string[] = [];
      const { driver } = createDriver({ url }, messages);
      expect(driver.canCount()).toBe(false);
      expect(messages).toEqual([
        `driver cannot count requests or connections; samples of the sockets determine the end of the drain: lastcall.dev/driver-url is ${url}, expected an http URL with an IP, such as http://127.0.0.1:4191`,
      ]);
    },
  );

  test("reports an unknown count if the proxy hangs, so that the drain continues", async () => {
    const proxy = await startProxy();
    proxy.isHanging = true;
    const { driver, count } = createDriver(proxy);
    // Two counts that time out take longer than the absence after which the driver stops counting.
    expect(await count()).toBe(-1);
    expect(await count()).toBe(-1);
    expect(driver.canCount()).toBe(true);
  });

  test("stops counting after the proxy was absent for two seconds", async () => {
    const messages: string[] = [];
    const { driver, count } = createDriver({ url: `http://${ownAddress()}:4191` }, messages);
    expect(await count()).toBe(-1);
    expect(driver.canCount()).toBe(true);
    await pause(2_100, "longer than the absence after which the driver stops counting");
    await count();
    expect(driver.canCount()).toBe(false);
    expect(messages.join()).toContain("Linkerd's metrics cannot be read");
  });
});
