/** Tests the API client over TLS, with a private CA and a token file that is rotated. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import { loadKubeConfig } from "../../src/api-server/load-kube-config.ts";
import { makeCertificate } from "../../src/webhook/certificates/self-made.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-api-"));
const tokenFile = join(folder, "token");
let server: Server;
let ca: string;
let onRequest: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  const certificate = await makeCertificate("lastcall", Date.now());
  ca = certificate.caCertificate;
  const { cert, key } = certificate.source.current();
  server = createServer({ cert, key }, (request, response) => onRequest(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

async function createClient(trustedCa: string | undefined, path = ""): Promise<ApiClient> {
  writeFileSync(tokenFile, "first");
  const kubeconfig = join(folder, "kubeconfig");
  const { port } = server.address() as AddressInfo;
  const data =
    trustedCa === undefined ? {} : { "certificate-authority-data": Buffer.from(trustedCa).toString("base64") };
  const cluster = { server: `https://localhost:${port}${path}`, ...data };
  const user = { "auth-provider": { name: "tokenFile", config: { tokenFile } } };
  const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
  const clusters = [{ name: "c", cluster }];
  const users = [{ name: "u", user }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, users, contexts, "current-context": "x" }));
  return createApiClient(await loadKubeConfig({ kubeconfigFile: kubeconfig }));
}

/** `@kubernetes/client-node` caches a token file for a minute. */
const MINUTE_MS = 60_000;

const request = { method: "GET", path: "/version?a=b", limitMs: 10_000 } as const;

test("the API client trusts the kubeconfig's CA, sends the token, and uses the server URL's path", async () => {
  const receivedRequests: unknown[] = [];
  onRequest = (request, response) => {
    receivedRequests.push([request.url, request.headers.authorization, request.headers.accept]);
    response.end("ä");
  };
  const api = await createClient(ca, "/k8s/clusters/c-1/");
  expect(await api.request(request)).toEqual({ status: 200, text: "ä" });
  expect(receivedRequests).toEqual([["/k8s/clusters/c-1/version?a=b", "Bearer first", "application/json"]]);
  api.close();
});

test("the API client sends a rotated token within a minute", async () => {
  const received: unknown[] = [];
  onRequest = (request, response) => {
    received.push(request.headers.authorization);
    response.end();
  };
  const api = await createClient(ca);
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    await api.request(request);
    writeFileSync(tokenFile, "second");
    vi.setSystemTime(Date.now() + MINUTE_MS + 1);
    await api.request(request);
  } finally {
    vi.useRealTimers();
  }
  expect(received).toEqual(["Bearer first", "Bearer second"]);
  api.close();
});

test("the API client does not send a request to a server whose certificate another CA signed", async () => {
  let requestCount = 0;
  onRequest = () => {
    requestCount += 1;
  };
  const api = await createClient(undefined);
  await expect(api.request(request)).rejects.toThrow(/certificate/);
  expect(requestCount).toBe(0);
  api.close();
});

test("a request of the API client fails after a response of more than 64 MiB", async () => {
  const chunk = Buffer.alloc(1024 * 1024, "x");
  let sentBytes = 0;
  onRequest = (_request, response) => {
    const writeMore = (): void => {
      if (response.destroyed) return;
      sentBytes += chunk.length;
      response.write(chunk, writeMore);
    };
    writeMore();
  };
  const api = await createClient(ca);
  await expect(api.request({ ...request, limitMs: 60_000 })).rejects.toThrow("larger than 67108864 bytes");
  expect(sentBytes).toBeGreaterThan(64 * chunk.length);
  api.close();
});

test("sequential requests of the API client share one connection", async () => {
  const ports = new Set<number | undefined>();
  onRequest = (request, response) => {
    ports.add(request.socket.remotePort);
    response.end("{}");
  };
  const api = await createClient(ca);
  for (let attempt = 0; attempt < 5; attempt += 1) await api.request(request);
  expect(ports.size).toBe(1);
  api.close();
});

test("a request of the API client fails at its time limit or after an incomplete response", async () => {
  onRequest = (_request, response) => {
    response.writeHead(200, { "content-length": "10" });
    response.write("half");
  };
  const api = await createClient(ca);
  await expect(api.request({ ...request, limitMs: 200 })).rejects.toThrow();
  const chunks: string[] = [];
  let openCount = 0;
  await api.stream({
    path: "/watch",
    // Long enough for a TLS handshake on a busy machine.
    limitMs: 4_000,
    signal: new AbortController().signal,
    onOpen: () => {
      openCount += 1;
    },
    onChunk: (chunk) => chunks.push(chunk.toString()),
  });
  expect([openCount, chunks]).toEqual([1, ["half"]]);
  api.close();
});

test("a stream of the API client rejects if it breaks, is refused, or the callback throws", async () => {
  const api = await createClient(ca);
  const openStream = (onChunk: () => void) =>
    api.stream({
      path: "/w?x",
      limitMs: 10_000,
      signal: new AbortController().signal,
      onOpen: () => undefined,
      onChunk,
    });
  onRequest = (_request, response) => {
    response.writeHead(200).write("a");
    setImmediate(() => response.destroy());
  };
  await expect(openStream(() => undefined)).rejects.toThrow();
  onRequest = (_request, response) => {
    response.writeHead(410).end();
  };
  await expect(openStream(() => undefined)).rejects.toMatchObject({
    status: 410,
    message: expect.not.stringContaining("x"),
  });
  onRequest = (_request, response) => {
    response.writeHead(200).write("a");
  };
  const throwError = (): void => {
    throw new Error("cannot be parsed");
  };
  await expect(openStream(throwError)).rejects.toThrow("cannot be parsed");
  api.close();
});
