/**
 * A second application on the webhook's port, told apart by the server name a client asks TLS for: its connections get its
 * certificate and its routes and nothing else, all others never get those.
 */
import { constants } from "node:crypto";
import type { RequestListener } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import type { SecureContext, TLSSocket } from "node:tls";
import { oldestFirst } from "./oldest-first.ts";

export type Lodger = {
  /** `undefined` for a name that is not its own. */
  readonly contextFor: (serverName: string) => SecureContext | undefined | Promise<SecureContext | undefined>;
  readonly handle: RequestListener;
  /** Its connections are cut once this resolves: whoever is silent or slow there must not hold up the process. */
  readonly gone: Promise<void>;
};

/**
 * Every handshake is a whole one: a resumed one may not tell the name it was asked for. To be given again with every new
 * certificate of the server. API servers do not resume.
 */
export const NO_RESUMPTION = { secureOptions: constants.SSL_OP_NO_TICKET } as const;

/**
 * Its clients hold one connection each while they drain. Beyond this the oldest is cut on which no answer is under way: a
 * stranger can open connections and sit on them, and must not keep out those who ask.
 */
export const CONNECTION_LIMIT = 14_000;

export function toldApart(
  options: ServerOptions,
  handler: RequestListener,
  lodger: Lodger,
  connectionLimit: number = CONNECTION_LIMIT,
): Server {
  /** Names that were last answered with its certificate; a handful, because it is asked first. */
  const names = new Set<string>();
  const lodged = new Set<Socket>();
  const cuttable = oldestFirst();
  let isGone = false;

  const contextFor = async (serverName: string): Promise<SecureContext | undefined> => {
    const context = await lodger.contextFor(serverName);
    if (context === undefined) names.delete(serverName);
    else names.add(serverName);
    // Without a context the server's own certificate is used.
    return context;
  };

  const server = createServer(
    {
      ...options,
      ...NO_RESUMPTION,
      SNICallback: (serverName, done) => {
        contextFor(serverName).then(
          (context) => done(null, context),
          (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
        );
      },
    },
    (request, response) => {
      const { socket } = request;
      if (!lodged.has(socket)) {
        handler(request, response);
        return;
      }
      cuttable.answering(socket, response);
      lodger.handle(request, response);
    },
  );
  server.on("secureConnection", (socket: TLSSocket) => {
    if (typeof socket.servername !== "string" || !names.has(socket.servername)) return;
    lodged.add(socket);
    cuttable.add(socket);
    socket.once("close", () => {
      lodged.delete(socket);
      cuttable.remove(socket);
    });
    if (isGone) socket.destroy();
    else if (lodged.size > connectionLimit) cuttable.cutOne();
  });
  void lodger.gone.then(() => {
    isGone = true;
    for (const socket of lodged) socket.destroy();
  });
  return server;
}
