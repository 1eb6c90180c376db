/** Serves the admin port: recent drains as JSON for the command line and as HTML pages. Plain HTTP, read-only. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type BucketSize, type KeyedBuckets, keyedBucketsBelow } from "../../api-server/token-buckets.ts";
import { PAGE_CSP } from "../../drain-history/page/page-frame.ts";
import { LOOPBACK, openPort } from "../../open-port.ts";
import { type AdminParts, type Answer, adminAnswers, sentenceAnswer } from "./admin-answers.ts";

export type OpenAdmin = {
  readonly port: number;
  readonly close: () => Promise<void>;
};

/** Without authentication: `loopback` serves the Pod's processes and port-forwards, `all` every other Pod too. */
export type AdminListen = "loopback" | "all";

const CONNECTION_LIMIT_MS = 30_000;
const REQUEST_LIMIT_MS = 5_000;
const SILENCE_LIMIT_MS = 10_000;

/** Port 0 takes a free one. @throws Fault ERR_LISTEN_FAILED */
export async function openAdmin(parts: AdminParts, port: number, listen: AdminListen = "loopback"): Promise<OpenAdmin> {
  const server = adminServer({ ...parts, nowMs: () => performance.now() });
  server.on("connection", (socket) => {
    const limit = setTimeout(() => socket.destroy(), CONNECTION_LIMIT_MS);
    socket.once("close", () => clearTimeout(limit));
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

const TOO_MANY_REQUESTS = sentenceAnswer(429, "Too many requests; the limit is five a second for each client address.");

export function adminServer(ports: AdminParts & { readonly nowMs: () => number }): Server {
  const answers = adminAnswers(ports);
  const mayRead = adminLimits();
  const timeouts = { headersTimeout: REQUEST_LIMIT_MS, requestTimeout: REQUEST_LIMIT_MS };
  const limits = { ...timeouts, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 };
  const connections = adminConnections();
  const server = createServer(limits, ({ method = "", url = "", socket }, response) => {
    connections.markAnswered(socket);
    const answer = answers(method, url);
    const isFree = answer.status !== 200;
    send(response, isFree || mayRead(socket.remoteAddress ?? "", ports.nowMs()) ? answer : TOO_MANY_REQUESTS);
  });
  server.setTimeout(SILENCE_LIMIT_MS);
  server.on("connection", connections.add);
  return server;
}

const HEADERS = {
  "content-security-policy": PAGE_CSP,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  // A keep-alive connection could be closed here while a proxy sends its next request on it.
  connection: "close",
} as const;

function send(response: ServerResponse, { status, type, body }: Answer): void {
  const bytes = Buffer.from(body());
  const form = { "content-type": type, "content-length": bytes.length };
  response.writeHead(status, { ...HEADERS, ...form, ...(status === 405 ? { allow: "GET, HEAD" } : {}) });
  response.end(bytes);
}

const PER_ADDRESS: BucketSize = { capacity: 20, refillMs: 200 };

/**
 * A list of a thousand long drains blocks the relay for 12 ms: lists take a quarter of its thread at most, and half a
 * second in one burst. One address can take half of the burst and a quarter of the rate.
 */
const OVERALL: BucketSize = { capacity: 40, refillMs: 50 };

/** A bucket is full again after 4 s, in which {@link OVERALL} allows 120 requests. */
const ADDRESSES_LIMIT = 1_000;

export function adminLimits(): KeyedBuckets["take"] {
  return keyedBucketsBelow(OVERALL, PER_ADDRESS, ADDRESSES_LIMIT);
}

/** Each takes some kilobytes. A flood of 10 000 a second leaves each connection 25 ms to send its request. */
const SILENT_LIMIT = 256;
/** For people and command lines behind the API server's proxy. Each response may contain every drain. */
const ANSWERED_LIMIT = 32;

/** Closes the oldest connections beyond a limit; clients without a request have a limit of their own. */
function adminConnections() {
  const silent = new Set<Socket>();
  const answered = new Set<Socket>();

  const addTo = (sockets: Set<Socket>, socket: Socket, limit: number): void => {
    sockets.add(socket);
    const [oldest] = sockets;
    if (sockets.size <= limit || oldest === undefined) return;
    sockets.delete(oldest);
    oldest.destroy();
  };

  return {
    add: (socket: Socket): void => {
      addTo(silent, socket, SILENT_LIMIT);
      socket.once("close", () => {
        silent.delete(socket);
        answered.delete(socket);
      });
    },
    markAnswered: (socket: Socket): void => {
      if (silent.delete(socket)) addTo(answered, socket, ANSWERED_LIMIT);
    },
  };
}
