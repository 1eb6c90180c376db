/**
 * Simulates the API server for the demo's webhook: lists, watches, gets and creates the objects that it and its relay use.
 *
 * Not modelled: RBAC (one account may do everything), validation, defaults, selectors, pages, patches, deletion,
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
  /** Required, because other users of this machine can reach the port, and the store contains a private key. */
  readonly token: string;
};

export type ApiServer = { readonly port: number; readonly close: () => Promise<void> };

export const SERVER_VERSION = "v1.37.0";

/** @throws Fault ERR_DEMO_FAILED when 127.0.0.1 does not have a free port */
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
  // Ignoring a selector would silently return too many objects.
  const hasSelector = query.has("labelSelector") || query.has("fieldSelector");
  const isWatch = request.method === "GET" && query.get("watch") === "true";
  if (isAuthorized && isWatch && target?.name === "" && !hasSelector) return streamWatch(target, query, reply, ports);
  // An unauthenticated client could send an endless body.
  const requestBody = isAuthorized ? await text(request) : "";
  const apiRequest = { method: request.method ?? "", pathname, hasSelector, body: objectAt(parsedJson(requestBody)) };
  const { status, body } = isAuthorized
    ? respond(apiRequest, target, ports.store)
    : errorResponse(401, "Unauthorized", "Unauthorized");
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

type Target = Collection & {
  readonly name: string;
};

/** Does not decode the path, because Kubernetes names do not need encoding. @returns `undefined` for a path that is not served */
function targetOf(pathname: string): Target | undefined {
  const [, group, namespace = "", plural, name = ""] =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
  const resource = RESOURCES.find((candidate) => candidate.group === group && candidate.plural === plural);
  return resource === undefined ? undefined : { resource, namespace, name };
}

type ApiRequest = {
  readonly method: string;
  readonly pathname: string;
  readonly hasSelector: boolean;
  readonly body: Json;
};

type ApiResponse = { readonly status: number; readonly body: Json };

/** Handles every request except watches. Returns every list as one page; the API allows a server to ignore `limit`. */
function respond(apiRequest: ApiRequest, target: Target | undefined, store: ObjectStore): ApiResponse {
  const { method, pathname, hasSelector, body } = apiRequest;
  if (method === "GET" && pathname === "/version")
    return { status: 200, body: { major: "1", minor: "37", gitVersion: SERVER_VERSION } };
  if (target === undefined)
    return errorResponse(404, "NotFound", `the demo's API server does not serve the path ${pathname}`);
  const { resource, name } = target;
  if (hasSelector) return errorResponse(400, "BadRequest", "the demo's API server does not support selectors");
  if (method === "GET" && name === "") return { status: 200, body: listResponse(target, store) };
  if (method === "GET") {
    const object = store.get(target, name);
    return object === undefined
      ? errorResponse(404, "NotFound", `${resource.plural} "${name}" not found`)
      : { status: 200, body: object };
  }
  if (method !== "POST" || name !== "")
    return errorResponse(405, "MethodNotAllowed", `the demo's API server does not support ${method} of ${pathname}`);
  const createdName = textAt(body, "metadata", "name") ?? "";
  if (store.get(target, createdName) !== undefined)
    return errorResponse(409, "AlreadyExists", `${resource.plural} "${createdName}" already exists`);
  return { status: 201, body: store.put(resource, body) };
}

function errorResponse(code: number, reason: string, message: string): ApiResponse {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return { status: code, body };
}

function listResponse(target: Target, store: ObjectStore): Json {
  return {
    kind: `${target.resource.kind}List`,
    apiVersion: apiVersionOf(target.resource),
    metadata: { resourceVersion: String(store.version()) },
    // List items carry neither kind nor apiVersion.
    items: store.list(target).map(({ kind: _kind, apiVersion: _apiVersion, ...object }) => object),
  };
}

/** Ends when the client disconnects, after the client's `timeoutSeconds`, or when the server closes. */
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
  const stopFollowing = store.follow(collection, Number(query.get("resourceVersion")), ({ type, object }) =>
    send(type, object),
  );
  await clock.wait(Number(query.get("timeoutSeconds")) * 1_000, closed.signal);
  stopFollowing();
  if (closed.signal.aborted) return;
  const metadata = { resourceVersion: String(store.version()), creationTimestamp: null };
  send("BOOKMARK", { kind, apiVersion: apiVersionOf(collection.resource), metadata });
  reply.end();
}
