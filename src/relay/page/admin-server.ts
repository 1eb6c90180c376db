/** The admin port: recent drains as JSON for the command line and as small pages. Plain HTTP, reading only. */
import { createServer, type Server, type ServerResponse } from "node:http";
import { PAGE_POLICY } from "../../drain-history/page/page-frame.ts";
import { adminLimits } from "../limits/admin-limits.ts";
import { type AdminParts, type Answer, adminAnswers, sentenceAnswer } from "./admin-answers.ts";
import { adminConnections } from "./admin-connections.ts";

export type AdminPorts = AdminParts & {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

/** A request is one line and a few headers; a client that takes longer has no request. In milliseconds. */
const REQUEST_LIMIT_MS = 5_000;
/** Without a byte in either direction; in milliseconds. */
const SILENCE_LIMIT_MS = 10_000;
const TOO_OFTEN = sentenceAnswer(429, "Too many requests: five a second are answered for each client address.");

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
  const answers = adminAnswers(ports);
  const mayRead = adminLimits();
  const limits = {
    headersTimeout: REQUEST_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
  };
  const connections = adminConnections();
  const server = createServer(limits, ({ method = "", url = "", socket }, response) => {
    connections.asked(socket);
    const answer = answers(method, url);
    // A refusal such as 404 or 405 is a short sentence, which costs no more than the one of TOO_OFTEN.
    const isFree = answer.status !== 200;
    send(response, isFree || mayRead(socket.remoteAddress ?? "", ports.nowMs()) ? answer : TOO_OFTEN);
  });
  server.setTimeout(SILENCE_LIMIT_MS);
  server.on("connection", connections.add);
  return server;
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  const bytes = Buffer.from(body());
  const form = { "content-type": type, "content-length": bytes.length };
  response.writeHead(status, { ...HEADERS, ...form, ...(status === 405 ? { allow: "GET, HEAD" } : {}) });
  response.end(bytes);
}
