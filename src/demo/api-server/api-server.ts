/**
 * The demo plays the API server for the one webhook it starts: lists and watches, gets, creates and patches, in the
 * documented shapes.
 *
 * Not modelled: rights (one account, and it may do everything), validation and defaults of objects, selectors, pages,
 * deletion, `status`, TLS. Old versions expire by count instead of by age.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import { type ApiAnswer, answerTo, refusal } from "./api-answer.ts";
import { askedFor } from "./api-resources.ts";
import type { ObjectStore } from "./object-store.ts";
import { readWatchQuestion, streamWatch } from "./watch-stream.ts";

type ApiServerPorts = {
  readonly clock: Clock;
  readonly store: ObjectStore;
  /** Any request without it gets 401: other users of this machine can reach the port, and a key is kept here. */
  readonly token: string;
};

export type ApiServer = { readonly port: number; readonly close: () => Promise<void> };

/** As a real server's limit of a request. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024;

/** @throws Fault ERR_DEMO_FAILED when no port of 127.0.0.1 can be had */
export async function startApiServer(ports: ApiServerPorts): Promise<ApiServer> {
  const closing = new AbortController();
  const server = createServer((request, reply) => {
    void serve(request, reply, { ...ports, closing: closing.signal }).catch(() => reply.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new Fault("ERR_DEMO_FAILED", "the API server has no port", cause)));
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: async () => {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Surroundings = ApiServerPorts & { readonly closing: AbortSignal };

async function serve(request: IncomingMessage, reply: ServerResponse, ports: Surroundings): Promise<void> {
  const url = new URL(request.url ?? "/", "http://api-server");
  const body = await bodyOf(request);
  if (request.headers.authorization !== `Bearer ${ports.token}`)
    return say(reply, refusal(401, "Unauthorized", "Unauthorized"));
  if (body === undefined) return say(reply, refusal(413, "RequestEntityTooLarge", "the body is too large"));
  const selector = ["labelSelector", "fieldSelector"].find((name) => url.searchParams.has(name));
  // An ignored selector would answer too much, and no one would notice.
  if (selector !== undefined) return say(reply, refusal(400, "BadRequest", `${selector} is not understood here`));
  const asked = askedFor(url.pathname);
  const watches = request.method === "GET" && url.searchParams.get("watch") === "true";
  if (watches && asked !== undefined && asked.name === "")
    return streamWatch(asked, readWatchQuestion(url.searchParams), reply, ports);
  const call = { method: request.method ?? "", path: url.pathname, body };
  return say(reply, answerTo({ ...call, contentType: request.headers["content-type"] ?? "" }, ports.store));
}

function say(reply: ServerResponse, { status, body }: ApiAnswer): void {
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** `undefined` when it is larger than the limit; the rest is read and dropped, so that the answer arrives. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) continue;
    bytes += chunk.length;
    if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
  }
  return bytes > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks).toString("utf8");
}
