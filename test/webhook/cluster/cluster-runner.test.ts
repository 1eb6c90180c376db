/** Tests the cluster facts that the webhook reads from its caches, also while the API server does not respond. */
import { PassThrough } from "node:stream";
import { Registry } from "prom-client";
import { afterEach, expect, test, vi } from "vitest";
import { STALE_AFTER_MS } from "../../../src/api-server/freshness.ts";
import { PAGE_LIMIT_BYTES } from "../../../src/api-server/list-pages.ts";
import { startCluster } from "../../../src/webhook/cluster/cluster-runner.ts";
import { createLog } from "../../../src/webhook/log.ts";
import { startFakeApiServer } from "../../api-server/fake-api-server.ts";
import { eventually } from "../../time/eventually.ts";
import { FACTS } from "../server-under-test.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("the lowest kubelet version is known only while the cached nodes are fresh", async () => {
  const server = await startFakeApiServer();
  const nodeInfo = { operatingSystem: "linux", kubeletVersion: "v1.31.2" };
  server.put("/api/v1/nodes", { metadata: { name: "n1" }, status: { nodeInfo } });
  const cluster = startCluster({
    kubeConfig: server.connection,
    constantFacts: FACTS,
    readsVersion: false,
    watchesPulls: false,
    log: createLog("silent", new PassThrough()),
    registry: new Registry(),
  });
  const readKubeletVersion = () => cluster.factsOf("shop").lowestKubeletVersion;
  try {
    expect(readKubeletVersion()).toBeUndefined();
    await cluster.firstRead(60_000);
    expect(readKubeletVersion()).toBe("v1.31.2");
    server.faults.isUnresponsive = true;
    const realNow = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => realNow() + STALE_AFTER_MS - 60_000);
    expect(readKubeletVersion()).toBe("v1.31.2");
    vi.spyOn(performance, "now").mockImplementation(() => realNow() + STALE_AFTER_MS + 1);
    expect(readKubeletVersion()).toBeUndefined();
  } finally {
    await cluster.stop();
    await server.close();
  }
});

test("with `watchesPulls`, the cluster facts for a namespace contain the error of its failed pulls of the manager's image", async () => {
  const server = await startFakeApiServer();
  const lastTimestamp = new Date().toISOString();
  const message = `Failed to pull image "${FACTS.managerImage}": not found`;
  const metadata = { name: "web-0.1", namespace: "shop" };
  server.put("/api/v1/events", {
    metadata,
    reason: "Failed",
    message,
    count: 3,
    lastTimestamp,
    firstTimestamp: lastTimestamp,
  });
  for (const watchesPulls of [true, false]) {
    const cluster = startCluster({
      kubeConfig: server.connection,
      constantFacts: FACTS,
      readsVersion: false,
      watchesPulls,
      log: createLog("silent", new PassThrough()),
      registry: new Registry(),
    });
    try {
      await cluster.firstRead(60_000);
      expect(cluster.factsOf("shop").imagePullError).toBe(watchesPulls ? message : undefined);
      expect(cluster.factsOf("other").imagePullError).toBeUndefined();
    } finally {
      await cluster.stop();
    }
  }
  await server.close();
});

test("a cache of Events that cannot be read is logged and exported as stale, and the other caches as fresh", async () => {
  const server = await startFakeApiServer();
  const metadata = { name: "web-0.1", namespace: "shop" };
  server.put("/api/v1/events", { metadata, message: "x".repeat(PAGE_LIMIT_BYTES) });
  const registry = new Registry();
  const lines: string[] = [];
  const output = new PassThrough().on("data", (line) => lines.push(String(line)));
  const cluster = startCluster({
    kubeConfig: server.connection,
    constantFacts: FACTS,
    readsVersion: false,
    watchesPulls: true,
    log: createLog("warn", output),
    registry,
  });
  const readStaleCaches = async (): Promise<readonly string[]> =>
    [...(await registry.metrics()).matchAll(/^lastcall_cache_stale\{cache="([a-z]+)"\} 1$/gm)].map(
      ([, cache = ""]) => cache,
    );
  try {
    await eventually(async () => expect(await readStaleCaches()).toEqual(["events"]));
    await eventually(() =>
      expect(lines.join("")).toMatch(/"cache":"events","why":"the response is larger than 16777216 bytes"/),
    );
    server.put("/api/v1/events", { metadata, message: "" });
    await eventually(async () => expect(await readStaleCaches()).toEqual([]));
  } finally {
    await cluster.stop();
    await server.close();
  }
});
