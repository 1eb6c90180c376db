/** Tests lists whose pages exceed the limit of a response. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import { listAll } from "../../src/api-server/list-pages.ts";
import { runReflector } from "../../src/api-server/reflector.ts";
import { createStore } from "../../src/api-server/store.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import { type FakeApiServer, fakeApiServer } from "./fake-api-server.ts";

const PATH = "/api/v1/events";
const KB = 1024;

let server: FakeApiServer;
let api: ApiClient;

beforeEach(async () => {
  server = await fakeApiServer();
  api = createApiClient(server.connection);
});

afterEach(async () => {
  api.close();
  await server.close();
});

function put(count: number, bytes: number, prefix: string): void {
  for (let at = 0; at < count; at += 1)
    server.put(PATH, { metadata: { name: `${prefix}${at}`, namespace: "shop" }, message: "x".repeat(bytes) });
}

const keep = (object: RawObject): number => String(object["message"]).length;
const list = (pageSize: number) =>
  listAll(api.request, { path: PATH, pageSize, keep, signal: new AbortController().signal });
const limits = (): readonly number[] =>
  server.requests.map((request) =>
    Number(new URL(request.slice("GET ".length), "http://fake").searchParams.get("limit")),
  );

test("large Events are listed in pages below the limit", async () => {
  put(60, 300 * KB, "large");
  const { objects } = await list(250);
  expect(objects.size).toBe(60);
  expect(limits()).toEqual([250, 125, 62, 31, 31]);
});

test("list pages grow again after large objects, and the next list starts with full pages", async () => {
  put(30, 600 * KB, "large");
  put(60, 1, "small");
  expect((await list(40)).objects.size).toBe(90);
  expect(limits()).toEqual([40, 20, 20, 40, 40]);
  await list(40);
  expect(limits()[5]).toBe(40);
});

test("a list fails if one object exceeds the size limit, with the limit in the message", async () => {
  put(1, 1, "small");
  put(1, 16 * 1024 * KB, "impossible");
  await expect(list(4)).rejects.toThrow("the response is larger than 16777216 bytes");
  expect(limits()).toEqual([4, 2, 1, 2, 1]);
});

test("a list is limited by the size of the store before the list is complete", async () => {
  put(10, 1, "small");
  const stop = new AbortController();
  let largest = 0;
  class Small extends Map<string, number> {
    override set(key: string, value: number): this {
      super.set(key, value);
      if (this.size > 3) this.delete(this.keys().next().value ?? "");
      largest = Math.max(largest, this.size);
      return this;
    }
  }
  const store = createStore(keep, () => new Small());
  const replaced: number[] = [];
  const watched = {
    ...store,
    replace: (objects: Iterable<readonly [string, number]>) => {
      replaced.push([...objects].length);
    },
  };
  const ports = {
    request: api.request,
    stream: api.stream,
    nowMs: () => 0,
    sleep: async () => undefined,
    random: () => 0.5,
    onListed: () => stop.abort(),
    onResponse: () => undefined,
    onFailed: () => undefined,
  };
  await runReflector({ path: PATH, pageSize: 4, store: watched, relistMs: 60_000 }, ports, stop.signal);
  expect([replaced, largest]).toEqual([[3], 3]);
});
