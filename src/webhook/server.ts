/** Builds the HTTPS server. The caller listens, so tests do not need a port. */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import Fastify, { type FastifyInstance } from "fastify";
import type { AdmissionRules } from "./admission/admit.ts";
import { addReviewRoutes, BODY_LIMIT_BYTES, type IntakePorts, type ReviewPorts } from "./admission/review-routes.ts";
import { clientCertificateOptions } from "./intake/client-certificate.ts";
import { paceHandshakes } from "./intake/more-listeners.ts";
import { type RecordRefusal, type Refusal, refusalRecorder } from "./intake/refusals.ts";
import { trackConnections } from "./intake/track-connections.ts";
import type { WebhookMetrics } from "./metrics.ts";

export type WebhookServer = FastifyInstance<Server>;

type ServerPorts = Omit<ReviewPorts, keyof IntakePorts> & {
  readonly unreadyReason: UnreadyReason;
  /** Whether the process has received a stop signal; responses then contain `Connection: close`. */
  readonly isStopping: () => boolean;
};

type ServerTls = {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string;
};

/**
 * Longer than the idle timeout of Go's clients, 90 s, so that the client closes the connection: a server that closes it may lose a
 * new request.
 */
const KEEP_ALIVE_TIMEOUT_MS = 120_000;
/** API servers time out after at most 30 s; the body budget rejects slow bodies earlier. */
const REQUEST_TIMEOUT_MS = 40_000;
const HEADERS_TIMEOUT_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Interval at which Node checks the timeouts above; Node's default is 30 s. */
const TIMEOUT_CHECK_MS = 2_000;
/** API servers send less than 1 KB of headers. */
const MAX_HEADER_BYTES = 8 * 1024;

/** Every supported API server can use TLS 1.2. */
const TLS_LIMITS = { minVersion: "TLSv1.2" } as const;

export function buildServer(rules: AdmissionRules, ports: ServerPorts, tls?: ServerTls): WebhookServer {
  const recordRefusal = refusalRecorder(ports);
  const clientCa = tls?.clientCa ?? "";
  const app: WebhookServer = Fastify({
    https: {
      ...(tls === undefined ? TLS_LIMITS : secureContextOptions(tls)),
      ...clientCertificateOptions(clientCa),
      ALPNProtocols: ["http/1.1"],
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    clientErrorHandler: (error, socket) => handleClientError(error, socket, recordRefusal),
    bodyLimit: BODY_LIMIT_BYTES,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    // Requests on keep-alive connections are served until the process exits.
    return503OnClosing: false,
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (ports.isStopping()) reply.header("connection", "close");
    done();
  });
  paceHandshakes(app.server);
  const connectionOf = trackConnections(app.server, recordRefusal);
  addReviewRoutes(app, rules, { ...ports, recordRefusal, connectionOf, needsCertificate: clientCa !== "" });
  addHealthRoutes(app, ports.metrics, ports.unreadyReason);
  app.setNotFoundHandler((_request, reply) => {
    reply.code(404).header("content-type", "text/plain; charset=utf-8");
    reply.send("Not found. Paths: POST /mutate, POST /settings, GET /healthz, GET /readyz, GET /metrics.\n");
  });
  return app;
}

export function renewCertificate(app: WebhookServer, tls: ServerTls): void {
  app.server.setSecureContext(secureContextOptions(tls));
}

function secureContextOptions({ cert, key, clientCa = "" }: ServerTls): SecureContextOptions {
  // Without `ca`, TLS would trust the public CAs.
  return { ...TLS_LIMITS, cert, key, ...(clientCa === "" ? {} : { ca: clientCa }) };
}

type UnreadyReason = () => string;

function addHealthRoutes(app: FastifyInstance<Server>, metrics: WebhookMetrics, unreadyReason: UnreadyReason): void {
  // Does not check anything, because a restart by the kubelet helps only if the process does not respond.
  app.get("/healthz", (_request, reply) => {
    reply.header("content-type", TEXT_TYPE).send("ok\n");
  });
  app.get("/readyz", (_request, reply) => {
    const why = unreadyReason();
    reply.code(why === "" ? 200 : 503);
    reply.header("content-type", TEXT_TYPE).send(why === "" ? "ok\n" : `Not ready: ${why}.\n`);
  });
  app.get("/metrics", async (_request, reply) => {
    const text = await metrics.render();
    return reply.header("content-type", metrics.contentType).send(text);
  });
}

const TEXT_TYPE = "text/plain; charset=utf-8";

type ConnectionError = Error & { readonly code?: string };
type ClientError = { readonly reason: Refusal; readonly statusLine?: string };

/** Handles errors of HTTP parsing and of TLS handshakes, because Node emits both as `clientError`. */
function handleClientError(error: ConnectionError, socket: Socket, recordRefusal: RecordRefusal): void {
  const clientError = clientErrorOf(error.code ?? "");
  // The parser reports an error again for the bytes after the first error.
  if (clientError?.statusLine !== undefined && socket.destroyed) return;
  if (clientError !== undefined) recordRefusal(clientError.reason);
  if (clientError?.statusLine !== undefined && socket.writable) {
    socket.write(`HTTP/1.1 ${clientError.statusLine}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
  socket.destroy(error);
}

function clientErrorOf(code: string): ClientError | undefined {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { reason: "slow_head", statusLine: "408 Request Timeout" };
  if (code === "HPE_HEADER_OVERFLOW")
    return { reason: "large_head", statusLine: "431 Request Header Fields Too Large" };
  if (code.startsWith("HPE_")) return { reason: "not_http", statusLine: "400 Bad Request" };
  if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return { reason: "slow_handshake" };
  if (code.startsWith("ERR_SSL_")) return { reason: "no_handshake" };
  return undefined;
}
