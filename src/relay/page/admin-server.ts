/** Serves the admin port: recent drains as JSON for the command line and as HTML pages. Plain HTTP, read-only. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type BucketSize, createNestedBuckets, type KeyedBuckets } from "../../api-server/token-buckets.ts";
import { PAGE_CSP } from "../../drain-history/page/page-frame.ts";
import { LOOPBACK, openPort } from "../../open-port.ts";
import { type AdminParts, type AdminResponse, createAdminHandler, textResponse } from "./admin-responses.ts";

export type OpenAdmin = {
  readonly port: number;
  readonly close: () => Promise<void>;
};

/** The port has no authentication: `loopback` serves processes in the Pod and port-forwards, `all` also every Pod of the cluster. */
export type AdminListen = "loopback" | "all";

const CONNECTION_LIMIT_MS = 30_000;
const REQUEST_LIMIT_MS = 5_000;
const IDLE_LIMIT_MS = 10_000;

/** Port 0 selects a free port. @throws Fault ERR_LISTEN_FAILED */
export async function openAdmin(parts: AdminParts, port: number, listen: AdminListen = "loopback"): Promise<OpenAdmin> {
  const server = createAdminServer({ ...parts, nowMs: () => performance.now() });
  server.on("connection", (socket) => {
    const timer = setTimeout(() => socket.destroy(), CONNECTION_LIMIT_MS);
    socket.once("close", () => clearTimeout(timer));
  });
  return {
    port: (await openPort(server, { name: "admin", host: listen === "all" ? "" : LOOPBACK, port })).port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const TOO_MANY_REQUESTS = textResponse(429, "Too many requests; the limit is five a second for each client address.");

export function createAdminServer(ports: AdminParts & { readonly nowMs: () => number }): Server {
  const handleRequest = createAdminHandler(ports);
  const takeToken = createRequestLimit();
  const timeouts = { headersTimeout: REQUEST_LIMIT_MS, requestTimeout: REQUEST_LIMIT_MS };
  const limits = { ...timeouts, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 };
  const connections = limitConnections();
  const server = createServer(limits, ({ method = "", url = "", socket }, response) => {
    connections.markRequested(socket);
    const adminResponse = handleRequest(method, url);
    const isUnlimited = adminResponse.status !== 200;
    sendResponse(
      response,
      isUnlimited || takeToken(socket.remoteAddress ?? "", ports.nowMs()) ? adminResponse : TOO_MANY_REQUESTS,
    );
  });
  server.setTimeout(IDLE_LIMIT_MS);
  server.on("connection", connections.add);
  return server;
}

const HEADERS = {
  "content-security-policy": PAGE_CSP,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  // The server could close a keep-alive connection while a proxy sends its next request on it.
  connection: "close",
} as const;

function sendResponse(response: ServerResponse, { status, contentType, body }: AdminResponse): void {
  const bytes = Buffer.from(body());
  const contentHeaders = { "content-type": contentType, "content-length": bytes.length };
  response.writeHead(status, { ...HEADERS, ...contentHeaders, ...(status === 405 ? { allow: "GET, HEAD" } : {}) });
  response.end(bytes);
}

const BUCKET_PER_ADDRESS: BucketSize = { capacity: 20, refillMs: 200 };

/**
 * A list of a thousand long drains blocks the relay for 12 ms, so lists take at most a quarter of the thread's time
 * and half a second in one burst. One address can take half of the burst and a quarter of the rate.
 */
const OVERALL_BUCKET: BucketSize = { capacity: 40, refillMs: 50 };

/** More buckets than are ever in use: each is full again after 4 s, in which {@link OVERALL_BUCKET} allows 120 requests. */
const ADDRESSES_LIMIT = 1_000;

export function createRequestLimit(): KeyedBuckets["take"] {
  return createNestedBuckets(OVERALL_BUCKET, BUCKET_PER_ADDRESS, ADDRESSES_LIMIT);
}

/**
 * Connections without a request; each takes a few kilobytes. In a flood of 10 000 connections a second each has 25 ms
 * to send its request.
 */
const WITHOUT_REQUEST_LIMIT = 256;
/** Connections with a request, usually through the API server's proxy. Each response may contain all drains. */
const WITH_REQUEST_LIMIT = 32;

/** Closes the oldest connections beyond a limit; clients without a request have a limit of their own. */
function limitConnections() {
  const socketsWithoutRequest = new Set<Socket>();
  const socketsWithRequest = new Set<Socket>();

  const addTo = (sockets: Set<Socket>, socket: Socket, limit: number): void => {
    sockets.add(socket);
    const [oldest] = sockets;
    if (sockets.size <= limit || oldest === undefined) return;
    sockets.delete(oldest);
    oldest.destroy();
  };

  return {
    add: (socket: Socket): void => {
      addTo(socketsWithoutRequest, socket, WITHOUT_REQUEST_LIMIT);
      socket.once("close", () => {
        socketsWithoutRequest.delete(socket);
        socketsWithRequest.delete(socket);
      });
    },
    markRequested: (socket: Socket): void => {
      if (socketsWithoutRequest.delete(socket)) addTo(socketsWithRequest, socket, WITH_REQUEST_LIMIT);
    },
  };
}
