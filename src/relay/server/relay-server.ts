/** Creates the relay's HTTPS server: certificates by server name, a connection limit, not-found and fault responses. */
import type { RequestListener, ServerResponse } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import type { SecureContext, TLSSocket } from "node:tls";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { DRAINS_PATH, WITHDRAWAL_PATH } from "../../contract/relay-wire.ts";
import { isClientError } from "./guard.ts";

/** `undefined` for unknown server names: TLS then ends the handshake. */
type ContextFor = (serverName: string) => SecureContext | undefined | Promise<SecureContext | undefined>;

type ErrorLog = { readonly error: (keys: object, sentence: string) => void };

const PARAMETER_LIMIT = 200;

export function relayServer(log: ErrorLog, contextFor: ContextFor): FastifyInstance<Server> {
  const app: FastifyInstance<Server> = Fastify({
    https: {},
    serverFactory: (handle) => relayTlsServer(handle, contextFor),
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LIMIT },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setNotFoundHandler((_request, reply) =>
    send(reply, 404, `Not found. The paths are POST ${WITHDRAWAL_PATH} and POST ${DRAINS_PATH}.`),
  );
  app.setErrorHandler<{ readonly statusCode?: number; readonly code?: string }>((error, request, reply) => {
    if (isClientError(error)) return send(reply, 400, "The request could not be read to its end.");
    log.error({ err: error, path: request.routeOptions.url }, "a request to the relay failed");
    return send(reply, 500, "Internal error; see the log of the relay.");
  });
  return app;
}

function send(reply: FastifyReply, status: number, text: string): FastifyReply {
  // The rest of the connection is not read.
  reply.code(status).header("connection", "close").header("content-type", "text/plain; charset=utf-8");
  return reply.send(`${text}\n`);
}

/** Each drain holds one. Beyond the limit idle clients lose theirs, so that they cannot keep out managers. */
export const CONNECTION_LIMIT = 14_000;

/** In milliseconds. A manager sends one request on each connection, at once. */
const LIMITS: ServerOptions = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  minVersion: "TLSv1.2",
};

export function relayTlsServer(
  handle: RequestListener,
  contextFor: ContextFor,
  connectionLimit: number = CONNECTION_LIMIT,
): Server {
  const connections = createConnections(connectionLimit);
  const server = createServer(
    {
      ...LIMITS,
      SNICallback: (serverName, done) => {
        Promise.resolve(contextFor(serverName)).then(
          (context) => done(null, context),
          (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
        );
      },
    },
    (request, response) => {
      connections.answering(request.socket, response);
      handle(request, response);
    },
  );
  server.on("secureConnection", (socket: TLSSocket) => connections.add(socket));
  return server;
}

/** Beyond the limit cuts the oldest connection without a response in progress, or the newest if all have one. */
function createConnections(limit: number) {
  const cuttable = new Map<Socket, ServerResponse | undefined>();
  /** With a response in progress; kept apart, because each search would pass thousands of them. */
  const aside = new Set<Socket>();
  let open = 0;

  const cutOne = (): void => {
    for (const [socket, answer] of cuttable) {
      cuttable.delete(socket);
      if (!isUnderWay(answer)) {
        socket.destroy();
        return;
      }
      aside.add(socket);
      answer.once("close", () => {
        if (aside.delete(socket)) cuttable.set(socket, undefined);
      });
    }
  };

  return {
    add: (socket: Socket): void => {
      open += 1;
      cuttable.set(socket, undefined);
      socket.once("close", () => {
        open -= 1;
        cuttable.delete(socket);
        aside.delete(socket);
      });
      if (open > limit) cutOne();
    },
    answering: (socket: Socket, answer: ServerResponse): void => {
      if (cuttable.has(socket) && !isUnderWay(cuttable.get(socket))) cuttable.set(socket, answer);
    },
  };
}

function isUnderWay(answer: ServerResponse | undefined): answer is ServerResponse {
  return answer?.headersSent === true && !answer.writableEnded;
}
