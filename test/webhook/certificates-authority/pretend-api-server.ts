/**
 * Secrets and webhook configurations over HTTP as the API server answers about them: versions, 404, 409 to a patch that names
 * an old version, 422 without causes to one that cannot be applied. The real one has its own cases; this one can be made to fail.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { default as jsonPatch, type Operation } from "fast-json-patch";

type ApiObject = {
  metadata: Record<string, unknown>;
  data?: Record<string, string>;
  webhooks?: Webhook[];
  items?: object[];
};
type Webhook = { name: string; clientConfig: { caBundle?: string; service: unknown }; futureField?: string };

export type PretendApi = {
  readonly url: string;
  /** By path; change what is in it and the next answer shows it. */
  readonly objects: Map<string, ApiObject>;
  readonly put: (path: string, object: ApiObject) => void;
  /** Every accepted or refused write: `PATCH /path 200`. */
  readonly writes: () => readonly string[];
  /** The first webhook's bundle as it was that many milliseconds ago. */
  readonly bundleAgo: (ms: number) => string;
  /** While set, every question is answered with this status. */
  failWith: number;
  readonly stop: () => Promise<void>;
};

export const CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/drain.lastcall.dev";
export const SECRETS = "/api/v1/namespaces/lastcall/secrets";
export const SECRET = `${SECRETS}/lastcall-ca`;

export async function pretendApi(): Promise<PretendApi> {
  const objects = new Map<string, ApiObject>();
  const writes: string[] = [];
  const bundles: { readonly atMs: number; readonly text: string }[] = [];
  let version = 100;
  const put = (path: string, object: ApiObject): void => {
    version += 1;
    objects.set(path, { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
    if (path === CONFIGURATION) bundles.push({ atMs: performance.now(), text: bundlesIn(api)[0] ?? "" });
  };
  const answerTo = (method: string, path: string, body: string): [number, unknown] => {
    if (api.failWith !== 0) return [api.failWith, { kind: "Status", message: "made to fail" }];
    if (method === "POST") {
      const object = JSON.parse(body) as ApiObject;
      const target = `${path}/${String(object.metadata["name"])}`;
      if (objects.has(target)) return [409, { kind: "Status", message: "already exists" }];
      put(target, object);
      return [201, objects.get(target)];
    }
    const object = objects.get(path);
    if (object === undefined) return [404, { kind: "Status", message: "not found" }];
    if (method === "GET") return [200, object];
    try {
      const patched = jsonPatch.applyPatch(structuredClone(object), JSON.parse(body) as Operation[], true).newDocument;
      if (patched.metadata["resourceVersion"] !== object.metadata["resourceVersion"]) {
        return [409, { kind: "Status", message: "the object has been modified" }];
      }
      put(path, patched);
      return [200, objects.get(path)];
    } catch {
      return [422, { kind: "Status", message: "the server rejected our request", details: {} }];
    }
  };
  const server = createServer((request, reply) => {
    void wholeBody(request).then((body) => {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      const [status, answer] = answerTo(request.method ?? "", path, body);
      if (request.method !== "GET") writes.push(`${request.method} ${path} ${status}`);
      reply.writeHead(status, { "content-type": "application/json" });
      const items = (request.url ?? "").includes("watch=true") ? objects.get(path)?.items : undefined;
      if (items === undefined) reply.end(JSON.stringify(answer));
      else sayAll(items, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const api: PretendApi = {
    url: `http://127.0.0.1:${port}`,
    objects,
    put,
    writes: () => writes,
    bundleAgo: (ms) => bundles.findLast(({ atMs }) => atMs <= performance.now() - ms)?.text ?? "",
    failWith: 0,
    stop: () => stopped(server),
  };
  return api;
}

/** A watch: all there is, as if it had just come. It lasts a moment, so that the next one is not asked for without end. */
function sayAll(items: readonly object[], reply: ServerResponse): void {
  for (const object of items) reply.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
  setTimeout(() => reply.end(), 100);
}

/** A configuration as a chart leaves it: without a bundle, and with a field this program has never heard of. */
export function freshConfiguration(): ApiObject {
  const webhook = (name: string): Webhook => ({
    name,
    clientConfig: { service: { name: "lastcall-webhook", namespace: "lastcall" } },
    futureField: "kept",
  });
  return {
    metadata: { name: "drain.lastcall.dev", labels: { a: "b" } },
    webhooks: [webhook("pods.drain.lastcall.dev"), webhook("labelled.drain.lastcall.dev")],
  };
}

export function kubeconfigFor(url: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

/** The caBundle of each webhook, decoded. */
export function bundlesIn(api: PretendApi): readonly string[] {
  const webhooks = api.objects.get(CONFIGURATION)?.webhooks ?? [];
  return webhooks.map((webhook) => Buffer.from(webhook.clientConfig.caBundle ?? "", "base64").toString());
}

async function wholeBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
