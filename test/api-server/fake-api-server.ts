/**
 * A fake API server: paged lists, watches from a version, optimistic concurrency, 410 for expired versions, and injected
 * failures of server and network.
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

type Watch = { readonly path: string; readonly reply: ServerResponse };

export type FakeApiServer = {
  readonly url: string;
  readonly connection: KubeConfig;
  readonly put: (path: string, object: FakeObject) => void;
  readonly remove: (path: string, name: string, namespace?: string) => void;
  /** Drops all changes so far: older watches and pages get 410. */
  readonly compact: () => void;
  readonly bookmark: (path: string) => void;
  /** Writes raw bytes to all open watches of the path. */
  readonly writeToWatches: (path: string, bytes: string | Buffer) => void;
  readonly endWatches: (cut?: boolean) => void;
  readonly openWatches: (path: string) => number;
  /** All requests, as `GET /path?query`. */
  readonly requests: readonly string[];
  readonly posted: readonly FakeObject[];
  /** All writes but those that `faults.refuse` rejected, as `PATCH /path 200`. */
  readonly writes: readonly string[];
  /** Since the last `compact`, on the clock of `performance.now()`. */
  readonly changes: readonly Change[];
  /** @param path of one object */
  readonly find: (path: string) => FakeObject | undefined;
  readonly faults: Faults;
  /** Closes all connections and stops listening; `comeBack` listens on the same port again. */
  readonly goAway: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type Faults = {
  /** Status of all responses. */
  refuse: number | undefined;
  /** Accepts requests without responding. */
  mute: boolean;
  /** Accepts watches without sending events. */
  silentWatches: boolean;
  /** Header `Retry-After` of all responses. */
  retryAfter: string | undefined;
  /** Ends watches at their `timeoutSeconds`. */
  endsOnTime: boolean;
  /** Sends a bookmark shortly before, as API servers do. */
  bookmarks: boolean;
  /** Called before each page after the first. */
  betweenPages: () => void;
};

/** Captures the collection's path and the object's name. */
const OBJECT = /^(\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/[^/]+)?\/[^/]+)\/([^/]+)$/;

export async function fakeApiServer(): Promise<FakeApiServer> {
  const objects = new Map<string, Map<string, FakeObject>>();
  const changes: Change[] = [];
  const watches = new Set<Watch>();
  const requests: string[] = [];
  const posted: FakeObject[] = [];
  const writes: string[] = [];
  const faults: Faults = {
    refuse: undefined,
    mute: false,
    silentWatches: false,
    retryAfter: undefined,
    endsOnTime: true,
    bookmarks: false,
    betweenPages: () => undefined,
  };
  let version = 100;
  let forgotten = 0;

  const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
  const expired = (): object => ({ ...status(410, "too old"), status: "Failure", reason: "Expired" });

  const change = (path: string, type: string, object: FakeObject): void => {
    version += 1;
    const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const all = objects.get(path) ?? new Map<string, FakeObject>();
    objects.set(path, all);
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    if (type === "DELETED") all.delete(key);
    else all.set(key, stamped);
    changes.push({ atMs: performance.now(), version, path, type, object: stamped });
    if (faults.silentWatches) return;
    for (const watch of watches) if (watch.path === path) watch.reply.write(line(type, stamped));
  };

  const list = (url: URL, reply: ServerResponse): void => {
    const all = [...(objects.get(url.pathname)?.values() ?? [])];
    const limit = Number(url.searchParams.get("limit") ?? 0) || all.length;
    const [from = 0, at = version] = (url.searchParams.get("continue") ?? "").split("@").filter(Boolean).map(Number);
    if (from > 0) faults.betweenPages();
    if (at < forgotten) {
      json(reply, 410, expired());
      return;
    }
    const next = from + limit < all.length ? `${from + limit}@${at}` : undefined;
    json(reply, 200, {
      kind: "List",
      metadata: { resourceVersion: String(at), ...(next === undefined ? {} : { continue: next }) },
      items: all.slice(from, from + limit),
    });
  };

  const watch = (url: URL, reply: ServerResponse): void => {
    const since = Number(url.searchParams.get("resourceVersion"));
    reply.writeHead(200, { "content-type": "application/json" });
    reply.flushHeaders();
    if (since < forgotten) {
      reply.end(line("ERROR", expired()));
      return;
    }
    if (!faults.silentWatches) {
      for (const { version: at, path, type, object } of changes)
        if (path === url.pathname && at > since) reply.write(line(type, object));
    }
    const open = { path: url.pathname, reply };
    watches.add(open);
    const seconds = Number(url.searchParams.get("timeoutSeconds") ?? 0);
    const endOnTime = (): void => {
      if (!faults.endsOnTime || faults.silentWatches) return;
      watches.delete(open);
      reply.end();
    };
    const timer = setTimeout(endOnTime, seconds * 1_000);
    const sendBookmark = (): void => {
      const text = line("BOOKMARK", { metadata: { resourceVersion: String(version) } });
      if (faults.bookmarks && !faults.silentWatches && !faults.mute && watches.has(open)) reply.write(text);
    };
    const bookmarkTimer = setTimeout(sendBookmark, Math.max(100, (seconds - 2) * 1_000));
    reply.on("close", () => {
      clearTimeout(timer);
      clearTimeout(bookmarkTimer);
      watches.delete(open);
    });
  };

  const find = (path: string): FakeObject | undefined => {
    const [, collection = "", name = ""] = OBJECT.exec(path) ?? [];
    const all = [...(objects.get(collection)?.values() ?? [])];
    return all.find((object) => object.metadata.name === decodeURIComponent(name));
  };

  const get = (url: URL, reply: ServerResponse): void => {
    if (url.pathname === "/version") {
      json(reply, 200, { major: "1", minor: "34+", gitVersion: "v1.34.2-fake" });
    } else if (OBJECT.test(url.pathname)) {
      const found = find(url.pathname);
      json(reply, found === undefined ? 404 : 200, found ?? status(404, "not found"));
    } else if (url.searchParams.get("watch") === "true") {
      watch(url, reply);
    } else {
      list(url, reply);
    }
  };

  const create = (path: string, object: FakeObject): readonly [number, object] => {
    if (find(`${path}/${object.metadata.name}`) !== undefined) return [409, status(409, "already exists")];
    posted.push(object);
    change(path, "ADDED", object);
    return [201, find(`${path}/${object.metadata.name}`) ?? object];
  };

  /** Returns 409 for a patch with an old version, 422 for one that cannot be applied. */
  const patch = (path: string, operations: readonly Operation[]): readonly [number, object] => {
    const object = find(path);
    if (object === undefined) return [404, status(404, "not found")];
    try {
      const patched = jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument;
      if (patched.metadata["resourceVersion"] !== object.metadata["resourceVersion"])
        return [409, status(409, "the object has been modified")];
      change(path.slice(0, path.lastIndexOf("/")), "MODIFIED", patched);
      return [200, find(path) ?? patched];
    } catch {
      return [422, status(422, "the server rejected our request")];
    }
  };

  const write = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const [path = ""] = (request.url ?? "").split("?", 1);
    const [code, object] = request.method === "POST" ? create(path, body) : patch(path, body);
    writes.push(`${request.method} ${path} ${code}`);
    json(reply, code, object);
  };

  const server = createServer((request, reply) => {
    requests.push(`${request.method} ${request.url}`);
    if (faults.mute) return;
    if (faults.retryAfter !== undefined) reply.setHeader("retry-after", faults.retryAfter);
    if (faults.refuse !== undefined) json(reply, faults.refuse, status(faults.refuse, "made to fail"));
    else if (request.method !== "GET") void write(request, reply);
    else get(new URL(request.url ?? "/", "http://fake"), reply);
  });
  // comeBack() needs the same port, so it must stay leased.
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
    posted,
    writes,
    changes,
    find,
    faults,
    put: (path, object) => change(path, objects.get(path)?.has(keyOf(object)) ? "MODIFIED" : "ADDED", object),
    remove: (path, name, namespace) =>
      change(path, "DELETED", { metadata: { name, ...(namespace === undefined ? {} : { namespace }) } }),
    compact: () => {
      changes.length = 0;
      forgotten = version;
    },
    bookmark: (path) => {
      version += 1;
      const text = line("BOOKMARK", { metadata: { resourceVersion: String(version) } });
      for (const open of watches) if (open.path === path) open.reply.write(text);
    },
    writeToWatches: (path, bytes) => {
      for (const open of watches) if (open.path === path) open.reply.write(bytes);
    },
    endWatches: (cut = false) => {
      for (const open of watches) {
        watches.delete(open);
        if (cut) open.reply.destroy();
        else open.reply.end();
      }
    },
    openWatches: (path) => [...watches].filter((open) => open.path === path).length,
    goAway: stop,
    comeBack: () => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve)),
    close: stop,
  };
}

/** @param url of a fake API server, or of a proxy in front of one */
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

function status(code: number, message: string): object {
  return { kind: "Status", code, message };
}

function json(reply: ServerResponse, status: number, body: unknown): void {
  reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
