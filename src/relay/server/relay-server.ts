/** The relay's HTTPS application: answers unknown paths, and failed requests that no route has answered. */
import type { Server } from "node:https";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { DRAINS_PATH, WITHDRAWAL_PATH } from "../../contract/relay-wire.ts";
import { isClientError } from "./guard.ts";
import { type ContextFor, relayTlsServer } from "./tls-server.ts";

type RelayServerLog = { readonly error: (keys: object, sentence: string) => void };

/** In characters; the paths of the relay have fewer than 100. */
const PARAMETER_LIMIT = 200;

export function relayServer(log: RelayServerLog, contextFor: ContextFor): FastifyInstance<Server> {
  const app: FastifyInstance<Server> = Fastify({
    https: {},
    serverFactory: (handle) => relayTlsServer(handle, contextFor),
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LIMIT },
  });
  // Bodies for unknown paths are not read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setNotFoundHandler((_request, reply) =>
    send(reply, 404, `There are POST ${WITHDRAWAL_PATH} and POST ${DRAINS_PATH}.`),
  );
  app.setErrorHandler<{ readonly statusCode?: number; readonly code?: string }>((error, request, reply) => {
    if (isClientError(error)) return send(reply, 400, "The request could not be read to its end.");
    log.error({ err: error, path: request.routeOptions.url }, "a request to the relay failed");
    send(reply, 500, "This is our fault.");
  });
  return app;
}

function send(reply: FastifyReply, status: number, text: string): void {
  // The rest of the connection is not worth reading.
  reply
    .code(status)
    .header("connection", "close")
    .header("content-type", "text/plain; charset=utf-8")
    .send(`${text}\n`);
}
