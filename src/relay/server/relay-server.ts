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

export function createRelayServer(log: ErrorLog, contextFor: ContextFor): FastifyInstance<Server> {
  const app: FastifyInstance<Server> = Fastify({
    https: {},
    serverFactory: (handle) => createTlsServer(handle, contextFor),
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
  // The connection is closed, because the bytes that follow on it are not read.
  reply.code(status).header("connection", "close").header("content-type", "text/plain; charset=utf-8");
  return reply.send(`${text}\n`);
}

/** Each drain holds one connection. Beyond the limit idle connections are closed, so they cannot block managers. */
export const CONNECTION_LIMIT = 14_000;

/** In milliseconds. A manager sends one request on each connection, immediately after it connects. */
const LIMITS: ServerOptions = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  minVersion: "TLSv1.2",
};

export function createTlsServer(
  handle: RequestListener,
  contextFor: ContextFor,
  connectionLimit: number = CONNECTION_LIMIT,
): Server {
  const connections = limitConnections(connectionLimit);
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
      connections.setResponse(request.socket, response);
      handle(request, response);
    },
  );
  server.on("secureConnection", (socket: TLSSocket) => connections.add(socket));
  return server;
}

/** Beyond the limit closes the oldest connection without a response in progress, or the newest if all have one. */
function limitConnections(limit: number) {
  const closableSockets = new Map<Socket, ServerResponse | undefined>();
  /** Sockets with a response in progress; a separate set, because each search would iterate over thousands of them. */
  const respondingSockets = new Set<Socket>();
  let openCount = 0;

  const closeOldest = (): void => {
    for (const [socket, response] of closableSockets) {
      closableSockets.delete(socket);
      if (!isInProgress(response)) {
        socket.destroy();
        return;
      }
      respondingSockets.add(socket);
      response.once("close", () => {
        if (respondingSockets.delete(socket)) closableSockets.set(socket, undefined);
      });
    }
  };

  return {
    add: (socket: Socket): void => {
      openCount += 1;
      closableSockets.set(socket, undefined);
      socket.once("close", () => {
        openCount -= 1;
        closableSockets.delete(socket);
        respondingSockets.delete(socket);
      });
      if (openCount > limit) closeOldest();
    },
    setResponse: (socket: Socket, response: ServerResponse): void => {
      if (closableSockets.has(socket) && !isInProgress(closableSockets.get(socket)))
        closableSockets.set(socket, response);
    },
  };
}

function isInProgress(response: ServerResponse | undefined): response is ServerResponse {
  return response?.headersSent === true && !response.writableEnded;
}
