/** The relay's own HTTP application. It shares a port and never listens itself. */
import type { Server } from "node:https";
import Fastify, { type FastifyInstance } from "fastify";
import { DRAINS_PATH, RELAY_BODY_LIMIT_BYTES, WITHDRAWAL_PATH } from "../contract/relay-wire.ts";

/** A method, a path and a few headers; ours take less than 100 characters. */
const PARAMETER_LIMIT = 200;

export function relayServer(): FastifyInstance<Server> {
  const app: FastifyInstance<Server> = Fastify({
    https: {},
    bodyLimit: RELAY_BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LIMIT },
  });
  // Each route reads its own body; what nobody asked for is not read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setNotFoundHandler((_request, reply) => {
    // What else is on its way over this connection is not worth reading.
    reply.code(404).header("content-type", "text/plain; charset=utf-8").header("connection", "close");
    reply.send(`There are POST ${WITHDRAWAL_PATH} and POST ${DRAINS_PATH}.\n`);
  });
  return app;
}
