/** The relay's TLS server: a client that asks for one of its names gets that certificate, any other no handshake. */
import type { RequestListener } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { SecureContext, TLSSocket } from "node:tls";
import { oldestFirst } from "./oldest-first.ts";

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
