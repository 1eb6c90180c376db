/** Tests lists whose pages exceed the size limit of a response. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import { listAll } from "../../src/api-server/list-pages.ts";
import { runReflector } from "../../src/api-server/reflector.ts";
import { createStore } from "../../src/api-server/store.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import { type FakeApiServer, startFakeApiServer } from "./fake-api-server.ts";

const PATH = "/api/v1/events";
const KIB_BYTES = 1024;

let server: FakeApiServer;
let api: ApiClient;

beforeEach(async () => {
  server = await startFakeApiServer();
  api = createApiClient(server.connection);
});

afterEach(async () => {
  api.close();
  await server.close();
});

function putObjects(count: number, bytes: number, prefix: string): void {
  for (let index = 0; index < count; index += 1)
    server.put(PATH, { metadata: { name: `${prefix}${index}`, namespace: "shop" }, message: "x".repeat(bytes) });
}

const messageLengthOf = (object: RawObject): number => String(object["message"]).length;
const listObjects = (pageSize: number) =>
  listAll(api.request, { path: PATH, pageSize, reduce: messageLengthOf, signal: new AbortController().signal });
const readRequestedLimits = (): readonly number[] =>
  server.requests.map((request) =>
    Number(new URL(request.slice("GET ".length), "http://fake").searchParams.get("limit")),
  );

test("large Events are listed in pages below the limit", async () => {
  putObjects(60, 300 * KIB_BYTES, "large");
  const { objects } = await listObjects(250);
  expect(objects.size).toBe(60);
  expect(readRequestedLimits()).toEqual([250, 125, 62, 31, 31]);
});

test("list pages grow again after large objects, and the next list starts with full pages", async () => {
  putObjects(30, 600 * KIB_BYTES, "large");
  putObjects(60, 1, "small");
  expect((await listObjects(40)).objects.size).toBe(90);
  expect(readRequestedLimits()).toEqual([40, 20, 20, 40, 40]);
  await listObjects(40);
  expect(readRequestedLimits()[5]).toBe(40);
});

test("a list fails if one object exceeds the size limit, with the limit in the message", async () => {
  putObjects(1, 1, "small");
  putObjects(1, 16 * 1024 * KIB_BYTES, "impossible");
  await expect(listObjects(4)).rejects.toThrow("the response is larger than 16777216 bytes");
  expect(readRequestedLimits()).toEqual([4, 2, 1, 2, 1]);
});

test("the store's limit of entries applies while a list is read", async () => {
  putObjects(10, 1, "small");
  const controller = new AbortController();
  let largestMapSize = 0;
  class SmallMap extends Map<string, number> {
    override set(key: string, value: number): this {
      super.set(key, value);
      if (this.size > 3) this.delete(this.keys().next().value ?? "");
      largestMapSize = Math.max(largestMapSize, this.size);
      return this;
    }
  }
  const store = createStore(messageLengthOf, () => new SmallMap());
  const replacedSizes: number[] = [];
  const recordingStore = {
    ...store,
    replace: (objects: Iterable<readonly [string, number]>) => {
      replacedSizes.push([...objects].length);
    },
  };
  const ports = {
    request: api.request,
    stream: api.stream,
    nowMs: () => 0,
    sleep: async () => undefined,
    random: () => 0.5,
    onListed: () => controller.abort(),
    onResponse: () => undefined,
    onFailed: () => undefined,
  };
  await runReflector({ path: PATH, pageSize: 4, store: recordingStore, relistMs: 60_000 }, ports, controller.signal);
  expect([replacedSizes, largestMapSize]).toEqual([[3], 3]);
});
