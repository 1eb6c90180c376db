/** Builds the server without listening, so that tests ask it without a port. */

import type { Server } from "node:https";
import Fastify, { type FastifyInstance } from "fastify";
import type { AdmissionRules } from "./admit.ts";
import { addHealthRoutes, type Unreadiness } from "./health-routes.ts";
import { addMutateRoute, BODY_LIMIT_BYTES, type MutatePorts } from "./mutate-route.ts";

export type WebhookServer = FastifyInstance<Server>;

export type ServerPorts = MutatePorts & {
  readonly unreadiness: Unreadiness;
  /** The process was told to stop: every answer then asks its client for a new connection. */
  readonly leaving: () => boolean;
};

export type TlsPair = { readonly cert: string; readonly key: string };

/** Longer than the 90 s for which Go's clients keep an idle connection: whoever closes first loses a racing request. */
const KEEP_ALIVE_TIMEOUT_MS = 120_000;
/** The API server gives up after 30 s at the latest. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Clients that still speak TLS 1.1 are no API server. */
const TLS_LIMITS = { minVersion: "TLSv1.2" } as const;

export function buildServer(rules: AdmissionRules, ports: ServerPorts, tls?: TlsPair): WebhookServer {
  const app: WebhookServer = Fastify({
    https: {
      ...(tls ?? {}),
      ...TLS_LIMITS,
      ALPNProtocols: ["http/1.1"],
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    },
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
  addMutateRoute(app, rules, ports);
  addHealthRoutes(app, ports.meters, ports.unreadiness);
  app.setNotFoundHandler((_request, reply) => {
    reply.code(404).header("content-type", "text/plain; charset=utf-8");
    reply.send("There are POST /mutate, GET /healthz, GET /readyz and GET /metrics.\n");
  });
  return app;
}

/** New connections get the new certificate; open ones stay. */
export function renewCertificate(app: WebhookServer, tls: TlsPair): void {
  app.server.setSecureContext({ cert: tls.cert, key: tls.key, ...TLS_LIMITS });
}
