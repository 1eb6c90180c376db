/** Tests limits of the memory and of the number of entries for the Events of a tenant. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import { newPullEvents, pullErrorsByNamespace, pullEventReducer } from "../../../src/webhook/cluster/image-pulls.ts";

const IMAGE = "registry.example/lastcall-manager:0.1.0";
const NOW_MS = Date.parse("2026-11-23T12:00:00Z");
const MESSAGE_BYTES = 200_000;

const createPullStore = () =>
  createStore(
    pullEventReducer(IMAGE, () => NOW_MS),
    newPullEvents,
  );

/** Creates an Event by parsing JSON, as the webhook does, so that every string has its own memory. */
function createEvent(namespace: string, name: number, padding = 0): Record<string, unknown> {
  const message = `Failed to pull image "${IMAGE}": ${String(name).padEnd(padding, "x")}`;
  const lastTimestamp = new Date(NOW_MS).toISOString();
  return JSON.parse(
    JSON.stringify({
      metadata: { namespace, name: `web.${name}` },
      reason: "Failed",
      message,
      lastTimestamp,
      count: 3,
    }),
  );
}

test("200 Events of 200 KB each take little memory, because only the start of a message is stored", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const store = createPullStore();
  const readHeapBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const heapBytesBefore = readHeapBytes();
  // One namespace per Event, so that the limit of a namespace does not evict entries.
  for (let at = 0; at < 200; at += 1) store.put(createEvent(`shop-${at}`, at, MESSAGE_BYTES));
  const heapGrowthBytes = readHeapBytes() - heapBytesBefore;
  expect(store.entries.size).toBe(200);
  expect([...store.entries.values()].every(({ message }) => message.length === 300)).toBe(true);
  // bound: memory, not time. The messages have 40 MB, and their stored first characters 0.2 MB; the test itself needs the rest.
  expect(heapGrowthBytes).toBeLessThan(20_000_000);
});

test("a namespace with 100 000 Events has eight cache entries, and other namespaces keep their cache entries", () => {
  const store = createPullStore();
  store.put(createEvent("other", 0));
  const template = createEvent("shop", 0);
  for (let at = 0; at < 100_000; at += 1)
    store.put({ ...template, metadata: { namespace: "shop", name: `web.${at}` } });
  expect(store.entries.size).toBe(9);
  expect([...pullErrorsByNamespace(store.entries).keys()].sort()).toEqual(["other", "shop"]);
});

test("the cache has at most 2 000 Events of all namespaces, and a new namespace still gets an entry", () => {
  const store = createPullStore();
  const template = createEvent("shop", 0);
  const entries = store.newEntries?.() ?? new Map();
  for (let at = 0; at < 10_000; at += 1) {
    const metadata = { namespace: `shop-${at % 1_000}`, name: `web.${at}` };
    const reduced = store.reduce({ ...template, metadata });
    if (reduced !== undefined) entries.set(`${metadata.namespace}/${metadata.name}`, reduced);
  }
  expect(entries.size).toBe(2_000);
  store.replace(entries);
  store.put(createEvent("last", 0));
  expect(store.entries.size).toBe(2_000);
  expect(pullErrorsByNamespace(store.entries).has("last")).toBe(true);
  expect(pullErrorsByNamespace(store.entries).size).toBe(1_001);
});
