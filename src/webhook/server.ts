/** Builds the server without listening, so that tests ask it without a port. */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import Fastify, { type FastifyInstance } from "fastify";
import type { AdmissionRules } from "./admission/admit.ts";
import { addReviewRoutes, BODY_LIMIT_BYTES, type IntakePorts, type ReviewPorts } from "./admission/review-routes.ts";
import { certificateRequest } from "./intake/client-certificate.ts";
import { paceHandshakes } from "./intake/more-listeners.ts";
import { countAndLog, type Refusal, type Refuse } from "./intake/refusals.ts";
import { watchConnections } from "./intake/watch-connections.ts";
import type { Meters } from "./metrics.ts";

export type WebhookServer = FastifyInstance<Server>;

type ServerPorts = Omit<ReviewPorts, keyof IntakePorts> & {
  readonly unreadiness: Unreadiness;
  /** The process was told to stop: every answer then asks its client for a new connection. */
  readonly leaving: () => boolean;
};

type ServerTls = {
  readonly cert: string;
  readonly key: string;
  /** PEM; empty: reviews are taken from everyone. */
  readonly clientCa?: string;
};

/** Longer than the 90 s for which Go's clients keep an idle connection: the first to close loses a racing request. */
const KEEP_ALIVE_TIMEOUT_MS = 120_000;
/** The API server gives up after 30 s at the latest; slow bodies are cut before by a rule of their own. */
const REQUEST_TIMEOUT_MS = 40_000;
const HEADERS_TIMEOUT_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How often connections are looked at for these times; unset it would be half a minute. */
const TIMEOUT_CHECK_MS = 2_000;
/** The API server's heads have less than 1 KB. */
const LARGEST_HEAD_BYTES = 8 * 1024;

/** Clients that still speak TLS 1.1 are no API server. */
const TLS_LIMITS = { minVersion: "TLSv1.2" } as const;

export function buildServer(rules: AdmissionRules, ports: ServerPorts, tls?: ServerTls): WebhookServer {
  const refuse = countAndLog(ports);
  const clientCa = tls?.clientCa ?? "";
  const app: WebhookServer = Fastify({
    https: {
      ...(tls === undefined ? TLS_LIMITS : secrets(tls)),
      ...certificateRequest(clientCa),
      ALPNProtocols: ["http/1.1"],
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: LARGEST_HEAD_BYTES,
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, refuse),
    bodyLimit: BODY_LIMIT_BYTES,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    // A request on a kept connection is answered for as long as the process can.
    return503OnClosing: false,
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (ports.leaving()) reply.header("connection", "close");
    done();
  });
  paceHandshakes(app.server);
  const connectionOf = watchConnections(app.server, refuse);
  addReviewRoutes(app, rules, { ...ports, refuse, connectionOf, needsCertificate: clientCa !== "" });
  addHealthRoutes(app, ports.meters, ports.unreadiness);
  app.setNotFoundHandler((_request, reply) => {
    reply.code(404).header("content-type", "text/plain; charset=utf-8");
    reply.send("There are POST /mutate, POST /settings, GET /healthz, GET /readyz and GET /metrics.\n");
  });
  return app;
}

/** New connections get the new certificate; open ones stay. */
export function renewCertificate(app: WebhookServer, tls: ServerTls): void {
  app.server.setSecureContext(secrets(tls));
}

function secrets({ cert, key, clientCa = "" }: ServerTls): SecureContextOptions {
  // With no CA given, TLS would trust those of the web.
  return { ...TLS_LIMITS, cert, key, ...(clientCa === "" ? {} : { ca: clientCa }) };
}

/** Why this replica should get no requests; empty when it should. */
type Unreadiness = () => string;

function addHealthRoutes(app: FastifyInstance<Server>, meters: Meters, unreadiness: Unreadiness): void {
  // Trivial on purpose: a restart helps only when the process no longer answers.
  app.get("/healthz", (_request, reply) => {
    reply.header("content-type", TEXT).send("ok\n");
  });
  app.get("/readyz", (_request, reply) => {
    const why = unreadiness();
    reply.code(why === "" ? 200 : 503);
    reply.header("content-type", TEXT).send(why === "" ? "ok\n" : `Not ready: ${why}.\n`);
  });
  app.get("/metrics", async (_request, reply) => {
    const text = await meters.render();
    return reply.header("content-type", meters.contentType).send(text);
  });
}

const TEXT = "text/plain; charset=utf-8";

/** What the HTTP and TLS layers gave up on: counted, and answered in one line where HTTP is spoken. */
type Broken = Error & { readonly code?: string };
type Kind = { readonly reason: Refusal; readonly line?: string };

/** Node tells failed handshakes here too. */
function answerBrokenRequest(error: Broken, socket: Socket, refuse: Refuse): void {
  const kind = kindOf(error.code ?? "");
  // The parser complains again about what came after it was told to stop.
  if (kind?.line !== undefined && socket.destroyed) return;
  if (kind !== undefined) refuse(kind.reason);
  if (kind?.line !== undefined && socket.writable) {
    socket.write(`HTTP/1.1 ${kind.line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
  socket.destroy(error);
}

/** `undefined` when its client left or the network failed, which is no refusal. */
function kindOf(code: string): Kind | undefined {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { reason: "slow_head", line: "408 Request Timeout" };
  if (code === "HPE_HEADER_OVERFLOW") return { reason: "large_head", line: "431 Request Header Fields Too Large" };
  if (code.startsWith("HPE_")) return { reason: "not_http", line: "400 Bad Request" };
  if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return { reason: "slow_handshake" };
  if (code.startsWith("ERR_SSL_")) return { reason: "no_handshake" };
  return undefined;
}
