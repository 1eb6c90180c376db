/** Builds the server without listening, so that tests ask it without a port. */

import type { Server } from "node:https";
import type { SecureContextOptions } from "node:tls";
import Fastify, { type FastifyInstance } from "fastify";
import type { AdmissionRules } from "./admit.ts";
import { addHealthRoutes, type Unreadiness } from "./health-routes.ts";
import { answerBrokenRequest } from "./intake/broken-requests.ts";
import { certificateRequest } from "./intake/client-certificate.ts";
import { paceHandshakes } from "./intake/handshake-turns.ts";
import { countAndLog } from "./intake/refusals.ts";
import { watchConnections } from "./intake/watch-connections.ts";
import { addReviewRoutes, BODY_LIMIT_BYTES, type IntakePorts, type ReviewPorts } from "./review-routes.ts";

export type WebhookServer = FastifyInstance<Server>;

export type ServerPorts = Omit<ReviewPorts, keyof IntakePorts> & {
  readonly unreadiness: Unreadiness;
  /** The process was told to stop: every answer then asks its client for a new connection. */
  readonly leaving: () => boolean;
};

export type ServerTls = {
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
