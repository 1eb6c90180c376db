/**
 * Fakes an API server: paged lists, watches from a resourceVersion, optimistic concurrency, 410 for compacted versions, and
 * injected failures of server and network.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { KubeConfig } from "@kubernetes/client-node";
import { default as jsonPatch, type Operation } from "fast-json-patch";
import { listenOnOwnPort } from "../leases/own-port.ts";

export type FakeObject = {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
};

type Change = {
  readonly atMs: number;
  readonly version: number;
  readonly path: string;
  readonly type: string;
  readonly object: FakeObject;
};

type Watch = { readonly path: string; readonly response: ServerResponse };

export type FakeApiServer = {
  readonly url: string;
  readonly connection: KubeConfig;
  readonly put: (path: string, object: FakeObject) => void;
  readonly remove: (path: string, name: string, namespace?: string) => void;
  /** Drops all recorded changes, as etcd does: watches and pages from older versions get 410. */
  readonly compact: () => void;
  readonly bookmark: (path: string) => void;
  /** Writes raw bytes to all open watches of the path. */
  readonly writeToWatches: (path: string, bytes: string | Buffer) => void;
  readonly endWatches: (isAbrupt?: boolean) => void;
  readonly countOpenWatches: (path: string) => number;
  /** All received requests, as `GET /path?query`. */
  readonly requests: readonly string[];
  readonly createdObjects: readonly FakeObject[];
  /** All writes except those that `faults.errorStatus` rejected, as `PATCH /path 200`. */
  readonly writes: readonly string[];
  /** Changes since the last `compact`, with times of `performance.now()`. */
  readonly changes: readonly Change[];
  /** @param path path of one object */
  readonly find: (path: string) => FakeObject | undefined;
  readonly faults: Faults;
  /** Closes all connections and stops listening; `listenAgain` listens on the same port. */
  readonly stopListening: () => Promise<void>;
  readonly listenAgain: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type Faults = {
  /** Status of all responses, if set. */
  errorStatus: number | undefined;
  /** Accepts requests without responding. */
  isUnresponsive: boolean;
  /** Accepts watches without sending events. */
  hasSilentWatches: boolean;
  /** Header `Retry-After` of all responses, if set. */
  retryAfter: string | undefined;
  /** Ends watches at their `timeoutSeconds`. */
  endsWatchesOnTime: boolean;
  /** Sends a bookmark 2 s before the end of a watch, as API servers do. */
  sendsBookmarks: boolean;
  /** Called before each page after the first. */
  onNextPage: () => void;
};

/** Captures the collection's path and the object's name. */
const OBJECT_PATH = /^(\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/[^/]+)?\/[^/]+)\/([^/]+)$/;

export async function startFakeApiServer(): Promise<FakeApiServer> {
  const objects = new Map<string, Map<string, FakeObject>>();
  const changes: Change[] = [];
  const watches = new Set<Watch>();
  const requests: string[] = [];
  const createdObjects: FakeObject[] = [];
  const writes: string[] = [];
  const faults: Faults = {
    errorStatus: undefined,
    isUnresponsive: false,
    hasSilentWatches: false,
    retryAfter: undefined,
    endsWatchesOnTime: true,
    sendsBookmarks: false,
    onNextPage: () => undefined,
  };
  let version = 100;
  let compactedVersion = 0;

  const eventLineOf = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
  const expiredStatus = (): object => ({ ...statusObject(410, "too old"), status: "Failure", reason: "Expired" });

  const applyChange = (path: string, type: string, object: FakeObject): void => {
    version += 1;
    const versionedObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const collection = objects.get(path) ?? new Map<string, FakeObject>();
    objects.set(path, collection);
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    if (type === "DELETED") collection.delete(key);
    else collection.set(key, versionedObject);
    changes.push({ atMs: performance.now(), version, path, type, object: versionedObject });
    if (faults.hasSilentWatches) return;
    for (const watch of watches) if (watch.path === path) watch.response.write(eventLineOf(type, versionedObject));
  };

  const list = (url: URL, response: ServerResponse): void => {
    const objectsOfPath = [...(objects.get(url.pathname)?.values() ?? [])];
    const limit = Number(url.searchParams.get("limit") ?? 0) || objectsOfPath.length;
    const [firstIndex = 0, listedVersion = version] = (url.searchParams.get("continue") ?? "")
      .split("@")
      .filter(Boolean)
      .map(Number);
    if (firstIndex > 0) faults.onNextPage();
    if (listedVersion < compactedVersion) {
      sendJson(response, 410, expiredStatus());
      return;
    }
    const continueToken =
      firstIndex + limit < objectsOfPath.length ? `${firstIndex + limit}@${listedVersion}` : undefined;
    sendJson(response, 200, {
      kind: "List",
      metadata: {
        resourceVersion: String(listedVersion),
        ...(continueToken === undefined ? {} : { continue: continueToken }),
      },
      items: objectsOfPath.slice(firstIndex, firstIndex + limit),
    });
  };

  const watch = (url: URL, response: ServerResponse): void => {
    const sinceVersion = Number(url.searchParams.get("resourceVersion"));
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    if (sinceVersion < compactedVersion) {
      response.end(eventLineOf("ERROR", expiredStatus()));
      return;
    }
    if (!faults.hasSilentWatches) {
      for (const { version: at, path, type, object } of changes)
        if (path === url.pathname && at > sinceVersion) response.write(eventLineOf(type, object));
    }
    const openWatch = { path: url.pathname, response };
    watches.add(openWatch);
    const seconds = Number(url.searchParams.get("timeoutSeconds") ?? 0);
    const endOnTime = (): void => {
      if (!faults.endsWatchesOnTime || faults.hasSilentWatches) return;
      watches.delete(openWatch);
      response.end();
    };
    const timer = setTimeout(endOnTime, seconds * 1_000);
    const sendBookmark = (): void => {
      const text = eventLineOf("BOOKMARK", { metadata: { resourceVersion: String(version) } });
      if (faults.sendsBookmarks && !faults.hasSilentWatches && !faults.isUnresponsive && watches.has(openWatch))
        response.write(text);
    };
    const bookmarkTimer = setTimeout(sendBookmark, Math.max(100, (seconds - 2) * 1_000));
    response.on("close", () => {
      clearTimeout(timer);
      clearTimeout(bookmarkTimer);
      watches.delete(openWatch);
    });
  };

  const find = (path: string): FakeObject | undefined => {
    const [, collection = "", name = ""] = OBJECT_PATH.exec(path) ?? [];
    const all = [...(objects.get(collection)?.values() ?? [])];
    return all.find((object) => object.metadata.name === decodeURIComponent(name));
  };

  const get = (url: URL, response: ServerResponse): void => {
    if (url.pathname === "/version") {
      sendJson(response, 200, { major: "1", minor: "34+", gitVersion: "v1.34.2-fake" });
    } else if (OBJECT_PATH.test(url.pathname)) {
      const object = find(url.pathname);
      sendJson(response, object === undefined ? 404 : 200, object ?? statusObject(404, "not found"));
    } else if (url.searchParams.get("watch") === "true") {
      watch(url, response);
    } else {
      list(url, response);
    }
  };

  const create = (path: string, object: FakeObject): readonly [number, object] => {
    if (find(`${path}/${object.metadata.name}`) !== undefined) return [409, statusObject(409, "already exists")];
    createdObjects.push(object);
    applyChange(path, "ADDED", object);
    return [201, find(`${path}/${object.metadata.name}`) ?? object];
  };

  /** Returns 409 for a patch with an old resourceVersion, and 422 for a patch that cannot be applied. */
  const patch = (path: string, operations: readonly Operation[]): readonly [number, object] => {
    const object = find(path);
    if (object === undefined) return [404, statusObject(404, "not found")];
    try {
      const patchedObject = jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument;
      if (patchedObject.metadata["resourceVersion"] !== object.metadata["resourceVersion"])
        return [409, statusObject(409, "the object has been modified")];
      applyChange(path.slice(0, path.lastIndexOf("/")), "MODIFIED", patchedObject);
      return [200, find(path) ?? patchedObject];
    } catch {
      return [422, statusObject(422, "the server rejected our request")];
    }
  };

  const write = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const [path = ""] = (request.url ?? "").split("?", 1);
    const [code, object] = request.method === "POST" ? create(path, body) : patch(path, body);
    writes.push(`${request.method} ${path} ${code}`);
    sendJson(response, code, object);
  };

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (faults.isUnresponsive) return;
    if (faults.retryAfter !== undefined) response.setHeader("retry-after", faults.retryAfter);
    if (faults.errorStatus !== undefined)
      sendJson(response, faults.errorStatus, statusObject(faults.errorStatus, "injected failure"));
    else if (request.method !== "GET") void write(request, response);
    else get(new URL(request.url ?? "/", "http://fake"), response);
  });
  // listenAgain() needs the same port, so the port must stay leased.
  const port = await listenOnOwnPort(server, "127.0.0.1");
  const url = `http://127.0.0.1:${port}`;
  const connection = new KubeConfig();
  connection.loadFromClusterAndUser({ name: "fake", server: url, skipTLSVerify: true }, { name: "u", token: "t" });

  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  return {
    url,
    connection,
    requests,
    createdObjects,
    writes,
    changes,
    find,
    faults,
    put: (path, object) => applyChange(path, objects.get(path)?.has(keyOf(object)) ? "MODIFIED" : "ADDED", object),
    remove: (path, name, namespace) =>
      applyChange(path, "DELETED", { metadata: { name, ...(namespace === undefined ? {} : { namespace }) } }),
    compact: () => {
      changes.length = 0;
      compactedVersion = version;
    },
    bookmark: (path) => {
      version += 1;
      const text = eventLineOf("BOOKMARK", { metadata: { resourceVersion: String(version) } });
      for (const openWatch of watches) if (openWatch.path === path) openWatch.response.write(text);
    },
    writeToWatches: (path, bytes) => {
      for (const openWatch of watches) if (openWatch.path === path) openWatch.response.write(bytes);
    },
    endWatches: (isAbrupt = false) => {
      for (const openWatch of watches) {
        watches.delete(openWatch);
        if (isAbrupt) openWatch.response.destroy();
        else openWatch.response.end();
      }
    },
    countOpenWatches: (path) => [...watches].filter((openWatch) => openWatch.path === path).length,
    stopListening: stop,
    listenAgain: () => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve)),
    close: stop,
  };
}

/** @param url URL of a fake API server, or of a proxy in front of one */
export function kubeconfigFor(url: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

function keyOf(object: FakeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

function statusObject(code: number, message: string): object {
  return { kind: "Status", code, message };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
