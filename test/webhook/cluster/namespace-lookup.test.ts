import fc from "fast-check";
import { expect, test } from "vitest";
import { createNamespaceLookup, LOOKUP_LIMIT_MS } from "../../../src/webhook/cluster/namespace-lookup.ts";
import { reduceNamespace } from "../../../src/webhook/cluster/reduced-objects.ts";

const SHOP_NAMESPACE = {
  metadata: { name: "shop", annotations: { "lastcall.dev/drain-delay": "9s", "other/key": "x" } },
};
const REVIEW_CHARACTERS = 10_000;

/** Creates a lookup whose cache and clock the test controls. */
function createLookup() {
  const cache = new Map<string, Readonly<Record<string, unknown>>>();
  const timers = new Set<{ readonly dueMs: number; readonly call: () => void }>();
  const clock = { nowMs: 0 };
  const lookup = createNamespaceLookup({
    readCached: (name) => cache.get(name),
    nowMs: () => clock.nowMs,
    schedule: (ms, call) => {
      const timer = { dueMs: clock.nowMs + ms, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  return {
    ...lookup,
    annotations: (name: string, characters = REVIEW_CHARACTERS) => lookup.annotations(name, characters),
    addToCache: (name: string, annotations: Readonly<Record<string, unknown>> = {}): void => {
      cache.set(name, annotations);
      lookup.notifyWaiters();
    },
    advance: (ms: number): void => {
      clock.nowMs += ms;
      for (const timer of timers) {
        if (timer.dueMs > clock.nowMs) continue;
        timers.delete(timer);
        timer.call();
      }
    },
    /** Each waiting lookup has one timer. */
    waitingCount: () => timers.size,
  };
}

/** Whether the lookup returns before the next turn of the event loop. */
async function hasReturned(result: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([result.then(() => true), turn]);
}

test("a lookup of a cached namespace returns immediately", async () => {
  const { addToCache, annotations, waitingCount } = createLookup();
  addToCache("shop", { a: "b" });
  expect(await annotations("shop")).toEqual({ a: "b" });
  expect(waitingCount()).toBe(0);
});

test("a hundred lookups of a new namespace return as soon as the watch delivers that namespace", async () => {
  const { annotations, advance, addToCache, isKnown, waitingCount } = createLookup();
  const lookups = Array.from({ length: 100 }, () => annotations("shop"));
  advance(LOOKUP_LIMIT_MS - 1);
  addToCache("other");
  expect(isKnown("shop")).toBe(false);
  expect(await Promise.all(lookups.map(hasReturned))).not.toContain(true);
  addToCache("shop", { "lastcall.dev/drain-delay": "9s" });
  for (const result of await Promise.all(lookups)) expect(result).toEqual({ "lastcall.dev/drain-delay": "9s" });
  expect(isKnown("shop")).toBe(true);
  expect(waitingCount()).toBe(0);
});

test("lookups of a missing namespace wait at most once in three seconds, and return the namespace after it is cached", async () => {
  const { annotations, advance, addToCache, waitingCount, isKnown } = createLookup();
  const firstLookup = annotations("shop");
  advance(LOOKUP_LIMIT_MS);
  expect(await firstLookup).toEqual({});
  advance(2_999);
  expect(await annotations("shop")).toEqual({});
  advance(1);
  const secondLookup = annotations("shop");
  expect(waitingCount()).toBe(1);
  advance(LOOKUP_LIMIT_MS);
  expect([await secondLookup, isKnown("shop")]).toEqual([{}, false]);
  addToCache("shop", { a: "b" });
  expect(await annotations("shop")).toEqual({ a: "b" });
});

test.for(["", "Shop", "shop.web", "-shop", "../shop", "s".repeat(64), "shop\n"])(
  "the lookup of %j, which is not a valid namespace name, does not wait",
  async (name) => {
    const { annotations, waitingCount, isKnown } = createLookup();
    expect(await annotations(name)).toEqual({});
    expect([waitingCount(), isKnown(name)]).toEqual([0, false]);
  },
);

test("a lookup of a new namespace waits for the watch even during a flood of lookups of invented names", async () => {
  const { annotations, addToCache, waitingCount } = createLookup();
  for (let at = 0; at < 10_000; at += 1) void annotations(`made-up-${at}`);
  const validLookup = annotations("shop");
  for (let at = 0; at < 200; at += 1) void annotations(`later-${at}`);
  expect(await annotations("large", 7_000_000)).toEqual({});
  expect(waitingCount()).toBe(256);
  addToCache("shop", { a: "b" });
  expect(await validLookup).toEqual({ a: "b" });
});

test("under any load, the total length of the reviews that wait for a lookup is limited, and all lookups return in time", async () => {
  const step = fc.oneof(
    fc.record({ looksUp: fc.stringMatching(/^[a-c]{1,3}$/), characters: fc.integer({ min: 1, max: 8_000_000 }) }),
    fc.record({ addToCache: fc.stringMatching(/^[a-c]{1,3}$/) }),
    fc.record({ advance: fc.integer({ min: 0, max: 400 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
      const lookup = createLookup();
      const results = new Map<Promise<unknown>, number>();
      const countWaitingCharacters = async (): Promise<number> => {
        let sum = 0;
        for (const [result, characters] of results) {
          if (await hasReturned(result)) results.delete(result);
          else sum += characters;
        }
        return sum;
      };
      for (const action of steps) {
        if ("looksUp" in action) results.set(lookup.annotations(action.looksUp, action.characters), action.characters);
        else if ("addToCache" in action) lookup.addToCache(action.addToCache);
        else lookup.advance(action.advance);
        expect(await countWaitingCharacters()).toBeLessThanOrEqual(4 * 1024 * 1024);
      }
      lookup.advance(LOOKUP_LIMIT_MS);
      expect([await countWaitingCharacters(), results.size, lookup.waitingCount()]).toEqual([0, 0, 0]);
    }),
    { numRuns: 50 },
  );
});

test("the namespace cache stores only the fields that injection reads", () => {
  expect(reduceNamespace(SHOP_NAMESPACE)).toEqual({ "lastcall.dev/drain-delay": "9s" });
  expect(reduceNamespace({ metadata: { annotations: { "linkerd.io/inject": "enabled", x: "y" } } })).toEqual({
    "linkerd.io/inject": "enabled",
  });
  expect(reduceNamespace({ metadata: null })).toEqual({});
});

test("the namespace cache stores Istio's labels, and drops annotations of the same name", () => {
  const labels = { "istio-injection": "enabled", "istio.io/rev": "canary", team: "shop" };
  expect(reduceNamespace({ metadata: { labels } })).toEqual({ "istio-injection": "enabled", "istio.io/rev": "canary" });
  expect(reduceNamespace({ metadata: { annotations: { "istio-injection": "enabled" } } })).toEqual({});
  const portAnnotations = { "config.linkerd.io/skip-inbound-ports": "25" };
  expect(reduceNamespace({ metadata: { annotations: { ...portAnnotations, x: "y" } } })).toEqual(portAnnotations);
});
