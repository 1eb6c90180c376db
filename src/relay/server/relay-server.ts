/** The relay's HTTPS application: answers unknown paths, and failed requests that no route has answered. */

import type { RequestListener, ServerResponse } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import type { SecureContext, TLSSocket } from "node:tls";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { DRAINS_PATH, WITHDRAWAL_PATH } from "../../contract/relay-wire.ts";
import { isClientError } from "./guard.ts";

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

/** `undefined` for a name that is not the relay's. */
export type ContextFor = (serverName: string) => SecureContext | undefined | Promise<SecureContext | undefined>;

/**
 * Its clients hold one connection each while they drain. Beyond this the oldest is cut on which no answer is under way: a
 * stranger can open connections and sit on them, and must not keep out those who ask.
 */
export const CONNECTION_LIMIT = 14_000;

/** In milliseconds. A manager asks right away, and asks once on each connection. */
const LIMITS: ServerOptions = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  // Clients that still speak TLS 1.1 are no manager.
  minVersion: "TLSv1.2",
};

/** Without a certificate of its own: where no name is the relay's, TLS itself ends the handshake. */
export function relayTlsServer(
  handle: RequestListener,
  contextFor: ContextFor,
  connectionLimit: number = CONNECTION_LIMIT,
): Server {
  const cuttable = oldestFirst();
  let open = 0;
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
      cuttable.answering(request.socket, response);
      handle(request, response);
    },
  );
  server.on("secureConnection", (socket: TLSSocket) => {
    open += 1;
    cuttable.add(socket);
    socket.once("close", () => {
      open -= 1;
      cuttable.remove(socket);
    });
    if (open > connectionLimit) cuttable.cutOne();
  });
  return server;
}

/** Which connection has to go when there are too many: the oldest on which no answer is under way. */
type OldestFirst = {
  readonly add: (socket: Socket) => void;
  readonly remove: (socket: Socket) => void;
  /** A request came on it, and this is to be its answer. */
  readonly answering: (socket: Socket, answer: ServerResponse) => void;
  /** The newest itself goes when all others are being answered. */
  readonly cutOne: () => void;
};

function oldestFirst(): OldestFirst {
  const cuttable = new Map<Socket, ServerResponse | undefined>();
  /** Set aside while the answer is under way, or every search would pass thousands of them again. */
  const aside = new Set<Socket>();

  const setAside = (socket: Socket, answer: ServerResponse): void => {
    cuttable.delete(socket);
    aside.add(socket);
    answer.once("close", () => {
      if (aside.delete(socket)) cuttable.set(socket, undefined);
    });
  };

  return {
    add: (socket) => cuttable.set(socket, undefined),
    remove: (socket) => {
      cuttable.delete(socket);
      aside.delete(socket);
    },
    answering: (socket, answer) => {
      if (cuttable.has(socket) && !isUnderWay(cuttable.get(socket))) cuttable.set(socket, answer);
    },
    cutOne: () => {
      for (const [socket, answer] of cuttable) {
        if (isUnderWay(answer)) {
          setAside(socket, answer);
          continue;
        }
        cuttable.delete(socket);
        socket.destroy();
        return;
      }
    },
  };
}

function isUnderWay(answer: ServerResponse | undefined): answer is ServerResponse {
  return answer?.headersSent === true && !answer.writableEnded;
}
