/** Tests the demo's API server over a socket with the product's own client. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import { loadKubeConfig } from "../../src/api-server/load-kube-config.ts";
import { type ReflectorPorts, runReflector } from "../../src/api-server/reflector.ts";
import { createStore, type Store } from "../../src/api-server/store.ts";
import { type ApiServer, startApiServer } from "../../src/demo/api-server/api-server.ts";
import { kubeconfig } from "../../src/demo/api-server/demo-cluster.ts";
import {
  createObjectStore,
  ENDPOINT_SLICES,
  NAMESPACES,
  type ObjectStore,
} from "../../src/demo/api-server/object-store.ts";
import { realClock } from "../../src/demo/clock.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import { eventually } from "../time/eventually.ts";

const SLICES = "/apis/discovery.k8s.io/v1/namespaces/demo/endpointslices";
const SECRETS = "/api/v1/namespaces/lastcall/secrets";
const TOKEN = "t0ken";

let home: string;
let objects: ObjectStore;
let server: ApiServer;
let api: ApiClient;
let stop: AbortController;
let running: Promise<void> | undefined;
let failures: string[];
let lists: number;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "lastcall-api-server-"));
  const uids = ["uid-1", "uid-2", "uid-3"];
  objects = createObjectStore(() => uids.shift() ?? "uid");
  server = await startApiServer({ clock: realClock, store: objects, token: TOKEN });
  api = await clientWith(TOKEN);
  stop = new AbortController();
  running = undefined;
  failures = [];
  lists = 0;
});

afterEach(async () => {
  stop.abort();
  await running;
  api.close();
  await server.close();
  rmSync(home, { recursive: true });
});

/** Uses the kubeconfig that the demo writes for the webhook. */
async function clientWith(token: string): Promise<ApiClient> {
  const kubeconfigFile = join(home, "kubeconfig.json");
  writeFileSync(kubeconfigFile, kubeconfig(`http://127.0.0.1:${server.port}`, token));
  return createApiClient(await loadKubeConfig({ kubeconfigFile }));
}

function slice(name: string, note: string, namespace = "demo"): RawObject {
  return { metadata: { name, namespace }, addressType: "IPv4", note };
}

function followSlices(relistMs = 600_000): Store<string> {
  const sliceStore = createStore((object: RawObject) => String(object["note"]));
  const ports: ReflectorPorts = {
    request: api.request,
    stream: api.stream,
    nowMs: () => performance.now(),
    sleep: (ms, signal) => realClock.wait(ms / 20, signal),
    random: () => 0.5,
    onListed: () => {
      lists += 1;
    },
    onResponse: () => {},
    onFailed: (reason) => failures.push(reason),
  };
  running = runReflector({ path: SLICES, pageSize: 1, store: sliceStore, relistMs }, ports, stop.signal);
  return sliceStore;
}

/** Collects the events of a watch until the server ends it. */
async function eventsOf(path: string): Promise<readonly unknown[]> {
  let text = "";
  const onChunk = (chunk: Buffer) => {
    text += chunk.toString();
  };
  await api.stream({ path, limitMs: 30_000, signal: stop.signal, onOpen: () => {}, onChunk });
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("a watch of the demo's API server", () => {
  test("delivers existing, new and changed objects of only the requested namespace", async () => {
    objects.put(ENDPOINT_SLICES, slice("a", "first"));
    objects.put(ENDPOINT_SLICES, slice("b", "elsewhere", "shop"));
    objects.put(NAMESPACES, { metadata: { name: "demo" } });
    const sliceStore = followSlices();
    await eventually(() => expect([...sliceStore.entries]).toEqual([["demo/a", "first"]]));
    objects.put(ENDPOINT_SLICES, slice("c", "later"));
    objects.put(ENDPOINT_SLICES, slice("a", "second"));
    objects.put(ENDPOINT_SLICES, slice("b", "still elsewhere", "shop"));
    const all = [
      ["demo/a", "second"],
      ["demo/c", "later"],
    ];
    await eventually(() => expect([...sliceStore.entries].sort()).toEqual(all));
    expect(lists).toBe(1);
    expect(failures).toEqual([]);
  });

  test("continues where the previous watch ended, without losing a change", async () => {
    const sliceStore = followSlices(1_000);
    await eventually(() => expect(lists).toBeGreaterThan(2));
    objects.put(ENDPOINT_SLICES, slice("a", "after"));
    await eventually(() => expect([...sliceStore.entries]).toEqual([["demo/a", "after"]]));
    expect(failures).toEqual([]);
  });

  test("ends at its timeout with a bookmark", async () => {
    objects.put(ENDPOINT_SLICES, slice("a", "there"));
    const events = await eventsOf(`${SLICES}?watch=true&resourceVersion=0&timeoutSeconds=1&allowWatchBookmarks=true`);
    expect(events).toMatchObject([
      { type: "ADDED", object: { metadata: { name: "a", resourceVersion: "101" } } },
      { type: "BOOKMARK", object: { kind: "EndpointSlice", metadata: { resourceVersion: "101" } } },
    ]);
  });

  test("ends when the server stops", async () => {
    const sliceStore = followSlices();
    objects.put(ENDPOINT_SLICES, slice("a", "there"));
    await eventually(() => expect(sliceStore.entries.size).toBe(1));
    await server.close();
    await eventually(() => expect(failures).not.toEqual([]));
  });
});

describe("a request to the demo's API server", () => {
  const send = (method: "GET" | "POST" | "PATCH", path: string, body?: unknown) =>
    api.request({ method, path, limitMs: 30_000, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "keys", namespace: "lastcall" }, data: {} };

  test("gets status 404 for a missing Secret, and can create the Secret only once", async () => {
    expect(await send("GET", `${SECRETS}/keys`)).toMatchObject({ status: 404 });
    expect(await send("POST", SECRETS, secret)).toMatchObject({ status: 201 });
    expect(await send("POST", SECRETS, secret)).toMatchObject({ status: 409 });
    const storedKeys = JSON.parse((await send("GET", `${SECRETS}/keys`)).text);
    expect(storedKeys).toMatchObject({ kind: "Secret", metadata: { uid: "uid-1", resourceVersion: "101" }, data: {} });
  });

  test.for([
    { title: "for an unsupported kind", method: "GET", path: "/apis/apps/v1/deployments", status: 404 },
    { title: "for a missing object", method: "GET", path: "/api/v1/nodes/none", status: 404 },
    { title: "for a subresource", method: "GET", path: "/api/v1/namespaces/demo/secrets/keys/status", status: 404 },
    { title: "with a name that cannot be decoded", method: "GET", path: "/api/v1/nodes/%ff", status: 404 },
    { title: "with a selector", method: "GET", path: `${SLICES}?labelSelector=a`, status: 400 },
    { title: "to patch an object", method: "PATCH", path: `${SECRETS}/none`, body: [], status: 405 },
    {
      title: "to create an object with a name in the path",
      method: "POST",
      path: `${SECRETS}/keys`,
      body: secret,
      status: 405,
    },
  ] as const)("$title gets status $status and a Status object", async (row) => {
    const response = await send(row.method, row.path, "body" in row ? row.body : undefined);
    expect(response.status).toBe(row.status);
    expect(JSON.parse(response.text)).toMatchObject({ kind: "Status", status: "Failure", code: row.status });
  });

  test("with a wrong token gets status 401 and no object", async () => {
    const unauthenticated = await clientWith("guessed");
    const response = await unauthenticated.request({ method: "GET", path: "/api/v1/nodes", limitMs: 30_000 });
    unauthenticated.close();
    expect(response.status).toBe(401);
    expect(response.text).not.toContain("items");
  });
});
