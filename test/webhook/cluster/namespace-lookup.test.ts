import { expect, test } from "vitest";
import type { RawObject } from "../../../src/kubernetes/raw-json.ts";
import { keepNamespace } from "../../../src/webhook/cluster/namespace-annotations.ts";
import { namespaceLookup } from "../../../src/webhook/cluster/namespace-lookup.ts";

const SHOP = { metadata: { name: "shop", annotations: { "lastcall.dev/drain-delay": "9s", "other/key": "x" } } };

function lookupUnderTest(fetch: (name: string) => Promise<RawObject | undefined>) {
  const cache = new Map<string, Readonly<Record<string, unknown>>>();
  const asked: string[] = [];
  const clock = { nowMs: 0 };
  const lookup = namespaceLookup({
    cached: (name) => cache.get(name),
    fetch: (name) => {
      asked.push(name);
      return fetch(name);
    },
    nowMs: () => clock.nowMs,
  });
  return { lookup, cache, asked, clock };
}

test("a namespace in the cache is not asked for", async () => {
  const { lookup, cache, asked } = lookupUnderTest(async () => undefined);
  cache.set("shop", { a: "b" });
  expect(await lookup.annotations("shop")).toEqual({ a: "b" });
  expect(asked).toEqual([]);
  expect(lookup.isUnknown("shop")).toBe(false);
});

test("a hundred Pods of a new namespace ask once, and a hundred later ones not at all", async () => {
  const { lookup, asked } = lookupUnderTest(async () => SHOP);
  const first = await Promise.all(Array.from({ length: 100 }, () => lookup.annotations("shop")));
  for (const annotations of first) expect(annotations).toEqual({ "lastcall.dev/drain-delay": "9s" });
  await Promise.all(Array.from({ length: 100 }, () => lookup.annotations("shop")));
  expect(asked).toEqual(["shop"]);
});

test.for([
  {
    says: "fails",
    fetch: async () => {
      throw new Error("no answer");
    },
  },
  { says: "finds nothing", fetch: async () => undefined },
])("a question that $says leaves the namespace unknown, and is not repeated for a while", async ({ fetch }) => {
  const { lookup, asked, clock } = lookupUnderTest(fetch);
  expect(await lookup.annotations("shop")).toEqual({});
  expect(lookup.isUnknown("shop")).toBe(true);
  clock.nowMs = 2_999;
  expect(await lookup.annotations("shop")).toEqual({});
  expect(asked).toHaveLength(1);
  clock.nowMs = 3_000;
  await lookup.annotations("shop");
  expect(asked).toHaveLength(2);
});

test("what was unknown is known as soon as the cache has it, or a later question finds it", async () => {
  let answers = false;
  const { lookup, cache, clock } = lookupUnderTest(async () => (answers ? SHOP : undefined));
  await lookup.annotations("shop");
  answers = true;
  clock.nowMs = 5_000;
  expect(await lookup.annotations("shop")).toEqual({ "lastcall.dev/drain-delay": "9s" });
  expect(lookup.isUnknown("shop")).toBe(false);
  await lookup.annotations("other");
  answers = false;
  cache.set("other", {});
  expect(lookup.isUnknown("other")).toBe(false);
});

test("of ten thousand names only the last thousand are remembered", async () => {
  const { lookup, asked } = lookupUnderTest(async () => SHOP);
  for (let at = 0; at < 10_000; at += 1) await lookup.annotations(`n${at}`);
  await lookup.annotations("n9000");
  expect(asked).toHaveLength(10_000);
  await lookup.annotations("n8999");
  expect(asked).toHaveLength(10_001);
});

test("of a namespace only what injection reads is kept", () => {
  expect(keepNamespace(SHOP)).toEqual({ "lastcall.dev/drain-delay": "9s" });
  expect(keepNamespace({ metadata: { annotations: { "linkerd.io/inject": "enabled", x: "y" } } })).toEqual({
    "linkerd.io/inject": "enabled",
  });
  expect(keepNamespace({ metadata: null })).toEqual({});
});

test("of a namespace the labels of Istio are kept, and annotations of that name are not", () => {
  const labels = { "istio-injection": "enabled", "istio.io/rev": "canary", team: "shop" };
  expect(keepNamespace({ metadata: { labels } })).toEqual({ "istio-injection": "enabled", "istio.io/rev": "canary" });
  expect(keepNamespace({ metadata: { annotations: { "istio-injection": "enabled" } } })).toEqual({});
  const ports = { "config.linkerd.io/skip-inbound-ports": "25" };
  expect(keepNamespace({ metadata: { annotations: { ...ports, x: "y" } } })).toEqual(ports);
});
