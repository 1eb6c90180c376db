/** The relay's HTTP application, without its routes. It does not listen itself. */
import type { Server } from "node:https";
import Fastify, { type FastifyInstance } from "fastify";
import { DRAINS_PATH, RELAY_BODY_LIMIT_BYTES, WITHDRAWAL_PATH } from "../contract/relay-wire.ts";
import { type ContextFor, relayTlsServer } from "./port/tls-server.ts";

/** A method, a path and a few headers; ours take less than 100 characters. */
const PARAMETER_LIMIT = 200;

export type RelayServerLog = { readonly error: (keys: object, sentence: string) => void };

export function relayServer(log: RelayServerLog, contextFor: ContextFor): FastifyInstance<Server> {
  const app: FastifyInstance<Server> = Fastify({
    https: {},
    serverFactory: (handle) => relayTlsServer(handle, contextFor),
    bodyLimit: RELAY_BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LIMIT },
  });
  // Each route reads its own body; a body that no route asked for is not read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setNotFoundHandler((_request, reply) => {
    // What else is on its way over this connection is not worth reading.
    reply.code(404).header("content-type", "text/plain; charset=utf-8").header("connection", "close");
    reply.send(`There are POST ${WITHDRAWAL_PATH} and POST ${DRAINS_PATH}.\n`);
  });
  // What the routes do not answer themselves.
  app.setErrorHandler<Failure>((error, request, reply) => {
    const isTheirs = (error.statusCode !== undefined && error.statusCode < 500) || error.code === "ECONNRESET";
    if (!isTheirs) log.error({ err: error, path: request.routeOptions.url }, "a request to the relay failed");
    reply
      .code(isTheirs ? 400 : 500)
      .header("content-type", "text/plain; charset=utf-8")
      .header("connection", "close");
    reply.send(isTheirs ? "The request could not be read to its end.\n" : "This is our fault.\n");
  });
  return app;
}

type Failure = { readonly statusCode?: number; readonly code?: string };
