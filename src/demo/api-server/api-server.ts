/**
 * Plays the API server for the webhook of the demo: lists, watches, gets and creates the objects that the webhook and
 * its relay use, in the documented shapes.
 *
 * Not modelled: RBAC (one account that may do everything), validation, defaults, selectors, pages, patches, deletion,
 * expired versions, TLS.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Clock } from "../clock.ts";
import { type Json, objectAt, parsedJson, textAt } from "../json.ts";
import { closeServer, listen } from "../network/sockets.ts";
import { apiVersionOf, type Collection, type ObjectStore, RESOURCES } from "./object-store.ts";

type ApiServerPorts = {
  readonly clock: Clock;
  readonly store: ObjectStore;
  /** Requests without it get 401: other users of this machine reach the port, and the store holds a private key. */
  readonly token: string;
};

export type ApiServer = { readonly port: number; readonly close: () => Promise<void> };

/** Version of the server and of its node; a cluster of this version has native sidecars and mounts images. */
export const SERVER_VERSION = "v1.37.0";

/** @throws Fault ERR_DEMO_FAILED when 127.0.0.1 has no free port */
export async function startApiServer(ports: ApiServerPorts): Promise<ApiServer> {
  const server = createServer((request, reply) => {
    void serve(request, reply, ports).catch(() => reply.destroy());
  });
  const port = await listen(server, "127.0.0.1");
  return {
    port,
    close: async () => {
      const closed = closeServer(server);
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(request: IncomingMessage, reply: ServerResponse, ports: ApiServerPorts): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://api-server");
  const target = targetOf(pathname);
  const isAuthorized = request.headers.authorization === `Bearer ${ports.token}`;
  // A list or watch that ignored its selector would contain too much, unnoticed.
  const selects = query.has("labelSelector") || query.has("fieldSelector");
  const watches = request.method === "GET" && query.get("watch") === "true";
  if (isAuthorized && watches && target?.name === "" && !selects) return streamWatch(target, query, reply, ports);
  // Only the webhook's bodies are read whole: other users of this machine could send endless ones.
  const body = isAuthorized ? await text(request) : "";
  const call = { method: request.method ?? "", pathname, selects, body: objectAt(parsedJson(body)) };
  const { status, answer } = isAuthorized
    ? answerTo(call, target, ports.store)
    : refusal(401, "Unauthorized", "Unauthorized");
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

type Target = Collection & {
  /** Empty: the whole collection. */
  readonly name: string;
};

/** `undefined` for a path that this server does not serve. Names of Kubernetes need no decoding. */
function targetOf(pathname: string): Target | undefined {
  const [, group, namespace = "", plural, name = ""] =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
  const resource = RESOURCES.find((served) => served.group === group && served.plural === plural);
  return resource === undefined ? undefined : { resource, namespace, name };
}

type ApiCall = {
  readonly method: string;
  readonly pathname: string;
  readonly selects: boolean;
  readonly body: Json;
};

type ApiAnswer = { readonly status: number; readonly answer: Json };

/** Answers everything but watches. Lists are whole: a server may ignore `limit`. */
function answerTo(call: ApiCall, target: Target | undefined, store: ObjectStore): ApiAnswer {
  const { method, pathname, selects, body } = call;
  if (method === "GET" && pathname === "/version")
    return { status: 200, answer: { major: "1", minor: "37", gitVersion: SERVER_VERSION } };
  if (target === undefined) return refusal(404, "NotFound", "the API server of the demo has no such objects");
  const { resource, name } = target;
  if (selects) return refusal(400, "BadRequest", "the API server of the demo has no selectors");
  if (method === "GET" && name === "") return { status: 200, answer: listed(target, store) };
  if (method === "GET") {
    const object = store.get(target, name);
    return object === undefined
      ? refusal(404, "NotFound", `${resource.plural} "${name}" not found`)
      : { status: 200, answer: object };
  }
  if (method !== "POST" || name !== "")
    return refusal(405, "MethodNotAllowed", `the API server of the demo does not ${method} ${resource.plural}`);
  const created = textAt(body, "metadata", "name") ?? "";
  if (store.get(target, created) !== undefined)
    return refusal(409, "AlreadyExists", `${resource.plural} "${created}" already exists`);
  return { status: 201, answer: store.put(resource, body) };
}

function refusal(code: number, reason: string, message: string): ApiAnswer {
  const answer = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return { status: code, answer };
}

function listed(target: Target, store: ObjectStore): Json {
  return {
    kind: `${target.resource.kind}List`,
    apiVersion: apiVersionOf(target.resource),
    metadata: { resourceVersion: String(store.version()) },
    // Items of a list have neither kind nor version of the API.
    items: store.list(target).map(({ kind: _kind, apiVersion: _apiVersion, ...object }) => object),
  };
}

/** Ends when the client leaves, when its timeout has passed, or when the server closes. */
async function streamWatch(
  collection: Collection,
  query: URLSearchParams,
  reply: ServerResponse,
  { store, clock }: ApiServerPorts,
): Promise<void> {
  const { kind } = collection.resource;
  const closed = new AbortController();
  reply.once("close", () => closed.abort());
  reply.writeHead(200, { "content-type": "application/json" }).flushHeaders();
  const send = (type: string, object: Json) => reply.write(`${JSON.stringify({ type, object })}\n`);
  const end = store.follow(collection, Number(query.get("resourceVersion")), ({ type, object }) => send(type, object));
  await clock.wait(Number(query.get("timeoutSeconds")) * 1_000, closed.signal);
  end();
  if (closed.signal.aborted) return;
  const metadata = { resourceVersion: String(store.version()), creationTimestamp: null };
  send("BOOKMARK", { kind, apiVersion: apiVersionOf(collection.resource), metadata });
  reply.end();
}
