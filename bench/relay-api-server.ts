/**
 * Serves as the API server of the relay benchmark, in a child process: EndpointSlices in pages and watches, Secrets, and the
 * few other resources that the webhook reads. Replies to a withdraw command after it has sent the slices of all its Pods.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import jsonPatch from "fast-json-patch";
import { NAMESPACES, namespaceAt, namespaceOf, SLICES, sliceOf } from "./relay-cluster.ts";
import {
  type ApiAddress,
  type ApiAddressRequest,
  monotonicMs,
  type WithdrawCommand,
  type WithdrawResult,
} from "./relay-messages.ts";
import { sliceText } from "./relay-slice-text.ts";

type StoredSecret = { metadata: { name: string; resourceVersion?: string } };

const BOOKMARK_BEFORE_MS = 2_000;

const terminatingPods = new Set<number>();
const versions = new Uint32Array(SLICES).fill(1);
let version = 10;
const watches = Array.from({ length: NAMESPACES }, () => new Set<ServerResponse>());
const secrets = new Map<string, StoredSecret>();

const [certFile = "", keyFile = ""] = process.argv.slice(2);
const certificatePair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
const server = createServer(certificatePair, (request, reply) => {
  respond(request, reply).catch((error) => reply.writeHead(500).end(String(error)));
});

async function respond(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://api");
  const body = request.method === "GET" ? "" : await text(request);
  const [, namespace] = /\/namespaces\/team-([0-9]+)\/endpointslices$/.exec(url.pathname) ?? [];
  const isWatch = url.searchParams.get("watch") === "true";
  if (namespace !== undefined && isWatch) watchSlices(Number(namespace), url, reply);
  else if (namespace !== undefined) listSlices(Number(namespace), url, reply);
  else if (isWatch) openWatch(url, reply, () => undefined);
  else sendJson(reply, ...otherResponse(request.method ?? "", url.pathname, body));
}

type ApiResponse = readonly [status: number, body: unknown];

function otherResponse(method: string, path: string, body: string): ApiResponse {
  if (/\/secrets(\/|$)/.test(path)) return secretResponse(method, path, body);
  if (method === "POST") return [201, JSON.parse(body)];
  if (path === "/version") return [200, { major: "1", minor: "35", gitVersion: "v1.35.0" }];
  return [200, { kind: "List", metadata: { resourceVersion: String(version) }, items: itemsOf(path) }];
}

function itemsOf(path: string): readonly object[] {
  if (path === "/api/v1/namespaces") {
    return Array.from({ length: NAMESPACES }, (_, index) => {
      const name = namespaceAt(index);
      return { metadata: { name, labels: { "kubernetes.io/metadata.name": name, "lastcall.dev/inject": "enabled" } } };
    });
  }
  const nodeInfo = { kubeletVersion: "v1.35.0", operatingSystem: "linux" };
  return path === "/api/v1/nodes" ? [{ metadata: { name: "node-1" }, status: { nodeInfo } }] : [];
}

function slicesIn(namespace: number): readonly number[] {
  return Array.from({ length: SLICES }, (_, slice) => slice).filter((slice) => namespaceOf(slice) === namespace);
}

function watchSlices(namespace: number, url: URL, reply: ServerResponse): void {
  const since = Number(url.searchParams.get("resourceVersion"));
  const openWatches = watches[namespace] ?? new Set();
  openWatch(url, reply, () => openWatches.delete(reply));
  for (const slice of slicesIn(namespace)) if ((versions[slice] ?? 0) > since) reply.write(eventText(slice));
  openWatches.add(reply);
}

function listSlices(namespace: number, url: URL, reply: ServerResponse): void {
  const slices = slicesIn(namespace);
  const limit = Number(url.searchParams.get("limit") ?? 0) || slices.length;
  const [from = 0, listVersion = version] = (url.searchParams.get("continue") ?? "")
    .split("@")
    .filter(Boolean)
    .map(Number);
  const page = slices.slice(from, from + limit).map((slice) => sliceText(slice, versions[slice] ?? 0, terminatingPods));
  const next = from + limit < slices.length ? { continue: `${from + limit}@${listVersion}` } : {};
  const metadata = JSON.stringify({ resourceVersion: String(listVersion), ...next });
  const head = `{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","metadata":${metadata}`;
  reply.writeHead(200, { "content-type": "application/json" }).end(`${head},"items":[${page.join(",")}]}`);
}

function openWatch(url: URL, reply: ServerResponse, onClose: () => void): void {
  reply.writeHead(200, { "content-type": "application/json" });
  reply.flushHeaders();
  const durationMs = Number(url.searchParams.get("timeoutSeconds") ?? 300) * 1_000;
  const sendBookmark = (): boolean =>
    reply.write(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${version}"}}}\n`);
  const bookmark =
    durationMs > BOOKMARK_BEFORE_MS ? setTimeout(sendBookmark, durationMs - BOOKMARK_BEFORE_MS) : undefined;
  const endTimer = setTimeout(() => {
    onClose();
    reply.end();
  }, durationMs);
  reply.on("close", () => {
    clearTimeout(bookmark);
    clearTimeout(endTimer);
    onClose();
  });
}

function eventText(slice: number): string {
  return `{"type":"MODIFIED","object":${sliceText(slice, versions[slice] ?? 0, terminatingPods)}}\n`;
}

function secretResponse(method: string, path: string, body: string): ApiResponse {
  const stored = secrets.get(path);
  if (method === "POST") {
    const created: StoredSecret = JSON.parse(body);
    const name = `${path}/${created.metadata.name}`;
    return secrets.has(name) ? failureResponse(409, "AlreadyExists") : [201, storeSecret(name, created)];
  }
  if (stored === undefined) return failureResponse(404, "NotFound");
  if (method === "GET") return [200, stored];
  try {
    return [200, storeSecret(path, jsonPatch.applyPatch(structuredClone(stored), JSON.parse(body), true).newDocument)];
  } catch {
    return failureResponse(409, "Conflict");
  }
}

function failureResponse(code: number, reason: string): ApiResponse {
  return [code, { kind: "Status", status: "Failure", code, reason }];
}

function storeSecret(path: string, object: StoredSecret): StoredSecret {
  version += 1;
  object.metadata.resourceVersion = String(version);
  secrets.set(path, object);
  return object;
}

function sendJson(reply: ServerResponse, status: number, body: unknown): void {
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function withdraw(pod: number): readonly [number, number] {
  const slice = sliceOf(pod);
  terminatingPods.add(pod);
  version += 1;
  versions[slice] = version;
  const event = eventText(slice);
  const nowMs = monotonicMs();
  for (const reply of watches[namespaceOf(slice)] ?? []) reply.write(event);
  return [pod, nowMs];
}

process.on("message", async (command: WithdrawCommand | ApiAddressRequest) => {
  if (!("pods" in command)) {
    process.send?.({ port: await listening } satisfies ApiAddress);
    return;
  }
  const { pods, perSecond } = command;
  const startMs = monotonicMs();
  const sentMs: (readonly [number, number])[] = [];
  for (const [index, pod] of pods.entries()) {
    const dueMs = perSecond === 0 ? 0 : startMs + (index * 1_000) / perSecond - monotonicMs();
    // Without a rate, setImmediate still lets the event loop write to the sockets.
    await new Promise((resolve) => (dueMs > 0 ? setTimeout(resolve, dueMs) : setImmediate(resolve)));
    sentMs.push(withdraw(pod));
  }
  process.send?.({ sentMs } satisfies WithdrawResult);
});

const listening = new Promise<number>((resolve) => {
  server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
});

process.on("disconnect", () => process.exit());
