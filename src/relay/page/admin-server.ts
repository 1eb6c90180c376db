/** The admin port: recent drains as JSON for the command line and as small pages. Plain HTTP, reading only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { drainListPage } from "../../drain-history/page/drain-list-page.ts";
import { drainPage } from "../../drain-history/page/drain-page.ts";
import { PAGE_POLICY } from "../../drain-history/page/page-frame.ts";
import { timelineSvg } from "../../drain-history/timeline-svg.ts";
import type { DrainRing } from "../drains/drain-ring.ts";

export type AdminPorts = {
  readonly drains: Pick<DrainRing, "list" | "find">;
  /** This replica's name. */
  readonly instance: string;
};

type Answer = { readonly status: number; readonly type: string; readonly body: string };

const TEXT = "text/plain; charset=utf-8";
const HTML = "text/html; charset=utf-8";

/** A request is one line and a few headers; whoever takes longer has no request. In milliseconds. */
const REQUEST_LIMIT_MS = 5_000;
/** Without a byte in either direction; in milliseconds. */
const SILENCE_LIMIT_MS = 10_000;
/** People and their command lines, through the API server's proxy. The answer to each may hold every drain. */
const CONNECTION_LIMIT = 32;

const HEADERS = {
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  // A kept connection could be closed here while a proxy sends its next request on it.
  connection: "close",
} as const;

/** Does not listen yet; see `admin-runner.ts`. */
export function adminServer(ports: AdminPorts): Server {
  const limits = {
    headersTimeout: REQUEST_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
  };
  const server = createServer(limits, (request, response) => answer(request, response, ports));
  server.setTimeout(SILENCE_LIMIT_MS);
  server.maxConnections = CONNECTION_LIMIT;
  return server;
}

function answer(request: IncomingMessage, response: ServerResponse, ports: AdminPorts): void {
  const { status, type, body } = answerTo(request.method ?? "", request.url ?? "", ports);
  const bytes = Buffer.from(body);
  const form = { "content-type": type, "content-length": bytes.length };
  response.writeHead(status, { ...HEADERS, ...form, ...(status === 405 ? { allow: "GET, HEAD" } : {}) });
  response.end(bytes);
}

function answerTo(method: string, target: string, ports: AdminPorts): Answer {
  if (method !== "GET" && method !== "HEAD") return sentence(405, "This port only answers GET.");
  const asked = target.indexOf("?");
  const path = asked < 0 ? target : target.slice(0, asked);
  if (path === "/" || path === "/drains.json") {
    const namespace = new URLSearchParams(asked < 0 ? "" : target.slice(asked)).get("namespace") ?? undefined;
    return listAnswer(path, namespace, ports);
  }
  const [, id, picture] = /^\/drains\/([-0-9A-Za-z]{1,64})(\.svg)?$/.exec(path) ?? [];
  const record = id === undefined ? undefined : ports.drains.find(id);
  if (record !== undefined) {
    const isPicture = picture !== undefined;
    return isPicture ? ok("image/svg+xml; charset=utf-8", timelineSvg(record)) : ok(HTML, drainPage(record));
  }
  if (id !== undefined) return sentence(404, `Replica ${ports.instance} remembers no drain with this id.`);
  return sentence(404, "There are GET /, /drains.json, /drains/ID and /drains/ID.svg.");
}

function listAnswer(path: string, namespace: string | undefined, { drains, instance }: AdminPorts): Answer {
  if (namespace !== undefined && !/^[a-z0-9][-a-z0-9]{0,62}$/.test(namespace)) {
    return sentence(400, "namespace: what was given is not the name of a namespace.");
  }
  const list = drains.list(namespace);
  if (path === "/") return ok(HTML, drainListPage({ drains: list, instance, namespace }));
  return ok("application/json", `${JSON.stringify({ version: 1, instance, drains: list })}\n`);
}

function ok(type: string, body: string): Answer {
  return { status: 200, type, body };
}

function sentence(status: number, words: string): Answer {
  return { status, type: TEXT, body: `${words}\n` };
}
