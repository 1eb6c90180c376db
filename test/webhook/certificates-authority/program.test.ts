/** Tests two webhook processes with one API server; the test verifies TLS as an API server does. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { type FakeApiServer, kubeconfigFor, startFakeApiServer } from "../../api-server/fake-api-server.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { type RunningWebhook, startWebhook } from "../running-webhook.ts";
import {
  bundlesIn,
  CONFIGURATION,
  CONFIGURATIONS,
  type Configuration,
  createConfiguration,
  pastBundleOf,
  SECRETS,
} from "./shared-objects.ts";

const TIMEOUT = { timeout: 180_000 };
const SERVER_NAME = "lastcall-webhook.lastcall.svc";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startApiServer(): Promise<FakeApiServer> {
  const api = await startFakeApiServer();
  cleanups.push(api.close);
  api.put(CONFIGURATIONS, createConfiguration());
  return api;
}

async function startReplica(api: Pick<FakeApiServer, "url">, settleTime = "1s"): Promise<RunningWebhook> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-authority-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "kubeconfig"), kubeconfigFor(api.url));
  const flags = ["--ca-secret=lastcall-ca", "--webhook-configuration=drain.lastcall.dev", `--ca-settle=${settleTime}`];
  const args = [...flags, `--kubeconfig=${join(folder, "kubeconfig")}`, "--certificate-check=100ms"];
  const starting = startWebhook(args, "not used");
  // Also destroys a program whose test ends before the program has started.
  cleanups.push(() => starting.then((replica) => replica.destroy()).catch(() => undefined));
  return starting;
}

type ProbeResult = { readonly status: number; readonly issuer: string };

/** Sends one request on one connection and trusts only the given CAs. Rejects when the certificate is refused. */
function probe(replica: RunningWebhook, ca: string, path = "/readyz"): Promise<ProbeResult> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: replica.port, ca, servername: SERVER_NAME }, () => {
      const issuer = String(socket.getPeerCertificate().issuer["CN"]);
      socket.on("data", (chunk: Buffer) => {
        resolve({ status: Number(chunk.toString().split(" ")[1]), issuer });
        socket.destroy();
      });
      socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("closed without a response")));
  });
}

/** Sends a request as an API server that has just read the configuration. */
function probeAsApiServer(api: FakeApiServer, replica: RunningWebhook): Promise<ProbeResult> {
  return probe(replica, bundlesIn(api)[1] ?? "").catch((error: unknown) => ({ status: 0, issuer: String(error) }));
}

/** Waits until the replica is ready for an API server that has just read the configuration. */
async function waitUntilReady(api: FakeApiServer, replica: RunningWebhook): Promise<void> {
  await eventually(async () => expect(await probeAsApiServer(api, replica)).toMatchObject({ status: 200 }));
}

test("two replicas create one CA, and write only the caBundles", TIMEOUT, async () => {
  const api = await startApiServer();
  const replicas = await Promise.all([startReplica(api), startReplica(api)]);
  for (const replica of replicas) await waitUntilReady(api, replica);
  const issuers = await Promise.all(replicas.map(async (replica) => (await probeAsApiServer(api, replica)).issuer));
  expect(new Set(issuers).size).toBe(1);
  expect(issuers[0]).toMatch(/^lastcall CA [0-9a-f]{16}$/);
  expect(new Set(bundlesIn(api)).size).toBe(1);
  const { metadata, webhooks } = api.find(CONFIGURATION) as Configuration;
  const [first, second] = webhooks.map(({ clientConfig: { caBundle: _caBundle, ...clientConfig }, ...rest }) => ({
    ...rest,
    clientConfig,
  }));
  expect([first, second]).toEqual(createConfiguration().webhooks);
  expect(metadata["labels"]).toEqual({ a: "b" });
  const metrics = await fetchMetrics(replicas[0], bundlesIn(api)[0] ?? "");
  expect(metrics).toMatch(/^lastcall_cabundle_in_sync 1$/m);
  expect(metrics).toMatch(/^lastcall_certificate_not_after_seconds\{kind="leaf"\} [0-9.e+]+$/m);
});

test(
  "a deleted Secret causes a new CA without a failed request, and keep-alive connections stay open",
  TIMEOUT,
  async () => {
    const api = await startApiServer();
    const replicas = await Promise.all([startReplica(api, "5s"), startReplica(api, "5s")]);
    for (const replica of replicas) await waitUntilReady(api, replica);
    const [first] = replicas;
    if (first === undefined) return;
    const keepAliveConnection = await openKeepAliveConnection(first, bundlesIn(api)[0] ?? "");
    const { issuer: old } = await probeAsApiServer(api, first);
    const failures: string[] = [];
    /** Sends requests until a certificate of a new CA is served; returns the issuers of all served certificates. */
    const sendRequests = async (replica: RunningWebhook): Promise<ReadonlySet<string>> => {
      const issuers = new Set<string>();
      while (issuers.size < 2 && failures.length === 0) {
        // An API server receives a new caBundle late: it uses the caBundle of half a second ago.
        const bundle = pastBundleOf(api, 500);
        const result = await probe(replica, bundle).catch((error: unknown) => ({ status: 0, issuer: String(error) }));
        if (result.status === 200) issuers.add(result.issuer);
        else failures.push(`${result.status} ${result.issuer}`);
        await pause(20, "the requests are not sent without a pause");
      }
      return issuers;
    };
    await pause(600, "the slow API server has the current caBundle afterwards");
    const sending = replicas.map(sendRequests);
    await pause(500, "some requests are sent before the Secret is deleted");
    api.remove(SECRETS, "lastcall-ca", "lastcall");
    const [ofFirst, ofSecond] = await Promise.all(sending);
    expect(failures).toEqual([]);
    expect(ofFirst).toEqual(ofSecond);
    expect(ofFirst).toContain(old);
    expect(await keepAliveConnection.request()).toBe(200);
    expect((await probeAsApiServer(api, first)).issuer).not.toBe(old);
    expect(bundlesIn(api)[0]?.match(/BEGIN/g)).toHaveLength(2);
  },
);

test("an emptied caBundle is filled again by one write", TIMEOUT, async () => {
  const api = await startApiServer();
  const replica = await startReplica(api);
  await waitUntilReady(api, replica);
  const earlierBundles = bundlesIn(api);
  const writeCount = api.writes.length;
  api.put(CONFIGURATIONS, createConfiguration());
  await eventually(() => expect(bundlesIn(api)[0] ?? "").not.toBe(""));
  expect(bundlesIn(api)).toEqual(earlierBundles);
  await pause(1_000, "a second write would have been made by now");
  expect(api.writes.slice(writeCount)).toEqual([`PATCH ${CONFIGURATION} 200`]);
});

test("the webhook logs errors of the API server, and stays ready during errors after a success", TIMEOUT, async () => {
  const api = await startApiServer();
  api.faults.errorStatus = 403;
  const replica = await startReplica(api);
  await eventually(() => expect(replica.output()).toContain("403 injected failure"));
  expect(replica.output()).not.toContain("PRIVATE KEY");
  await eventually(() =>
    expect(replica.output()).toContain("cannot read MutatingWebhookConfiguration drain.lastcall.dev"),
  );
  api.faults.errorStatus = undefined;
  await waitUntilReady(api, replica);
  api.faults.errorStatus = 500;
  await eventually(() => expect(replica.output()).toContain("500 injected failure"));
  expect((await probeAsApiServer(api, replica)).status).toBe(200);
});

test("an API server that never responds delays neither the start nor the exit of the webhook", TIMEOUT, async () => {
  const silentServer = createServer(() => undefined);
  cleanups.push(() => silentServer.close());
  await new Promise<void>((resolve) => silentServer.listen(0, "127.0.0.1", resolve));
  const { port } = silentServer.address() as AddressInfo;
  const replica = await startReplica({ url: `http://127.0.0.1:${port}` });
  const readiness = await new Promise<string>((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: replica.port, rejectUnauthorized: false }, () => {
      socket.once("data", (chunk: Buffer) => {
        resolve(chunk.toString());
        socket.destroy();
      });
      socket.write("GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    });
    socket.on("error", reject);
  });
  expect(readiness).toContain("503");
  const stopMs = performance.now();
  replica.signal("SIGINT");
  expect((await replica.ended).status).toBe(0);
  expect(performance.now() - stopMs).toBeLessThan(8_000); // bound: the exit must not wait for an API call of up to 10 s
});

async function fetchMetrics(replica: RunningWebhook | undefined, ca: string): Promise<string> {
  if (replica === undefined) return "";
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ host: "127.0.0.1", port: replica.port, ca, servername: SERVER_NAME });
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
    socket.write("GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  });
}

async function openKeepAliveConnection(
  replica: RunningWebhook,
  ca: string,
): Promise<{ readonly request: () => Promise<number> }> {
  const socket: TLSSocket = connect({ host: "127.0.0.1", port: replica.port, ca, servername: SERVER_NAME });
  cleanups.push(() => socket.destroy());
  const request = (): Promise<number> =>
    new Promise((resolve, reject) => {
      socket.once("data", (chunk: Buffer) => resolve(Number(chunk.toString().split(" ")[1])));
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("closed")));
      socket.write("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    });
  await request();
  return { request };
}
