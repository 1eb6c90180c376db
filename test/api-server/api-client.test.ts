/** The API server as it really is reached: over TLS with a CA of its own, with a token from a file that is replaced. */
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
let onRequest: (request: IncomingMessage, reply: ServerResponse) => void;

beforeAll(async () => {
  const made = await makeCertificate("lastcall", Date.now());
  ca = made.caCertificate;
  const { cert, key } = made.source.current();
  server = createServer({ cert, key }, (request, reply) => onRequest(request, reply));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

async function runnerWith(trusted: string | undefined, path = ""): Promise<ApiClient> {
  writeFileSync(tokenFile, "first");
  const kubeconfig = join(folder, "kubeconfig");
  const { port } = server.address() as AddressInfo;
  const data = trusted === undefined ? {} : { "certificate-authority-data": Buffer.from(trusted).toString("base64") };
  const cluster = { server: `https://localhost:${port}${path}`, ...data };
  const user = { "auth-provider": { name: "tokenFile", config: { tokenFile } } };
  const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
  const clusters = [{ name: "c", cluster }];
  const users = [{ name: "u", user }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, users, contexts, "current-context": "x" }));
  return createApiClient(await loadKubeConfig({ kubeconfigFile: kubeconfig }));
}

/** How long the package believes a token, as every client of Kubernetes does. */
const MINUTE_MS = 60_000;

const question = { method: "GET", path: "/version?a=b", limitMs: 10_000 } as const;

test("its CA is trusted, its token sent, and a path before the API kept", async () => {
  const seen: unknown[] = [];
  onRequest = (request, reply) => {
    seen.push([request.url, request.headers.authorization, request.headers.accept]);
    reply.end("ä");
  };
  const api = await runnerWith(ca, "/k8s/clusters/c-1/");
  expect(await api.request(question)).toEqual({ status: 200, text: "ä" });
  expect(seen).toEqual([["/k8s/clusters/c-1/version?a=b", "Bearer first", "application/json"]]);
  api.close();
});

test("a token that was replaced is sent within a minute", async () => {
  const seen: unknown[] = [];
  onRequest = (request, reply) => {
    seen.push(request.headers.authorization);
    reply.end();
  };
  const api = await runnerWith(ca);
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    await api.request(question);
    writeFileSync(tokenFile, "second");
    vi.setSystemTime(Date.now() + MINUTE_MS + 1);
    await api.request(question);
  } finally {
    vi.useRealTimers();
  }
  expect(seen).toEqual(["Bearer first", "Bearer second"]);
  api.close();
});

test("a server that another CA signed is not spoken to", async () => {
  let asked = 0;
  onRequest = () => {
    asked += 1;
  };
  const api = await runnerWith(undefined);
  await expect(api.request(question)).rejects.toThrow(/certificate/);
  expect(asked).toBe(0);
  api.close();
});

test("an answer of more than 64 MiB is given up, not kept", async () => {
  const chunk = Buffer.alloc(1024 * 1024, "x");
  let given = 0;
  onRequest = (_request, reply) => {
    const more = (): void => {
      if (reply.destroyed) return;
      given += chunk.length;
      reply.write(chunk, more);
    };
    more();
  };
  const api = await runnerWith(ca);
  await expect(api.request({ ...question, limitMs: 60_000 })).rejects.toThrow("larger than 67108864 bytes");
  expect(given).toBeGreaterThan(64 * chunk.length);
  api.close();
});

test("one connection serves question after question", async () => {
  const ports = new Set<number | undefined>();
  onRequest = (request, reply) => {
    ports.add(request.socket.remotePort);
    reply.end("{}");
  };
  const api = await runnerWith(ca);
  for (let time = 0; time < 5; time += 1) await api.request(question);
  expect(ports.size).toBe(1);
  api.close();
});

test("a question without an answer ends at its limit, a stream too, and half an answer is none", async () => {
  onRequest = (_request, reply) => {
    reply.writeHead(200, { "content-length": "10" });
    reply.write("half");
  };
  const api = await runnerWith(ca);
  await expect(api.request({ ...question, limitMs: 200 })).rejects.toThrow();
  const chunks: string[] = [];
  let opened = 0;
  await api.stream({
    path: "/watch",
    // Long enough for a connection on a machine that does much else.
    limitMs: 4_000,
    signal: new AbortController().signal,
    onOpen: () => {
      opened += 1;
    },
    onChunk: (chunk) => chunks.push(chunk.toString()),
  });
  expect([opened, chunks]).toEqual([1, ["half"]]);
  api.close();
});

test("a stream that breaks, is refused, or is not understood rejects", async () => {
  const api = await runnerWith(ca);
  const stream = (onChunk: () => void) =>
    api.stream({
      path: "/w?x",
      limitMs: 10_000,
      signal: new AbortController().signal,
      onOpen: () => undefined,
      onChunk,
    });
  onRequest = (_request, reply) => {
    reply.writeHead(200).write("a");
    setImmediate(() => reply.destroy());
  };
  await expect(stream(() => undefined)).rejects.toThrow();
  onRequest = (_request, reply) => {
    reply.writeHead(410).end();
  };
  await expect(stream(() => undefined)).rejects.toMatchObject({
    status: 410,
    message: expect.not.stringContaining("x"),
  });
  onRequest = (_request, reply) => {
    reply.writeHead(200).write("a");
  };
  const fails = (): void => {
    throw new Error("not understood");
  };
  await expect(stream(fails)).rejects.toThrow("not understood");
  api.close();
});
