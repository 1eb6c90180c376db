import fc from "fast-check";
import { expect, test } from "vitest";
import { reduceNamespace } from "../../../src/webhook/cluster/kept-objects.ts";
import { createNamespaceLookup, LOOKUP_LIMIT_MS } from "../../../src/webhook/cluster/namespace-lookup.ts";

const SHOP = { metadata: { name: "shop", annotations: { "lastcall.dev/drain-delay": "9s", "other/key": "x" } } };
const REVIEW_CHARACTERS = 10_000;

/** A cache that the test fills, and a clock that the test moves. */
function arrivalsUnderTest() {
  const cache = new Map<string, Readonly<Record<string, unknown>>>();
  const timers = new Set<{ readonly dueMs: number; readonly call: () => void }>();
  const clock = { nowMs: 0 };
  const arrivals = createNamespaceLookup({
    cached: (name) => cache.get(name),
    nowMs: () => clock.nowMs,
    schedule: (ms, call) => {
      const timer = { dueMs: clock.nowMs + ms, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  return {
    ...arrivals,
    annotations: (name: string, characters = REVIEW_CHARACTERS) => arrivals.annotations(name, characters),
    shows: (name: string, annotations: Readonly<Record<string, unknown>> = {}): void => {
      cache.set(name, annotations);
      arrivals.notifyWaiters();
    },
    passes: (ms: number): void => {
      clock.nowMs += ms;
      for (const timer of timers) {
        if (timer.dueMs > clock.nowMs) continue;
        timers.delete(timer);
        timer.call();
      }
    },
    /** One for each waiting lookup. */
    waiting: () => timers.size,
  };
}

/** Returns whether the lookup is answered once all pending microtasks have run. */
async function isOver(answer: Promise<unknown>): Promise<boolean> {
  const turn = new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([answer.then(() => true), turn]);
}

test("a lookup of a cached namespace returns at once", async () => {
  const { shows, annotations, waiting } = arrivalsUnderTest();
  shows("shop", { a: "b" });
  expect(await annotations("shop")).toEqual({ a: "b" });
  expect(waiting()).toBe(0);
});

test("a hundred lookups of a new namespace return as soon as the watch delivers that namespace", async () => {
  const { annotations, passes, shows, isKnown, waiting } = arrivalsUnderTest();
  const pods = Array.from({ length: 100 }, () => annotations("shop"));
  passes(LOOKUP_LIMIT_MS - 1);
  shows("other");
  expect(isKnown("shop")).toBe(false);
  expect(await Promise.all(pods.map(isOver))).not.toContain(true);
  shows("shop", { "lastcall.dev/drain-delay": "9s" });
  for (const found of await Promise.all(pods)) expect(found).toEqual({ "lastcall.dev/drain-delay": "9s" });
  expect(isKnown("shop")).toBe(true);
  expect(waiting()).toBe(0);
});

test("lookups of a missing namespace seldom wait, and find the namespace once it appears", async () => {
  const { annotations, passes, shows, waiting, isKnown } = arrivalsUnderTest();
  const first = annotations("shop");
  passes(LOOKUP_LIMIT_MS);
  expect(await first).toEqual({});
  passes(2_999);
  expect(await annotations("shop")).toEqual({});
  passes(1);
  const again = annotations("shop");
  expect(waiting()).toBe(1);
  passes(LOOKUP_LIMIT_MS);
  expect([await again, isKnown("shop")]).toEqual([{}, false]);
  shows("shop", { a: "b" });
  expect(await annotations("shop")).toEqual({ a: "b" });
});

test.for(["", "Shop", "shop.web", "-shop", "../shop", "s".repeat(64), "shop\n"])(
  "the lookup of %j, which is not a valid namespace name, does not wait",
  async (name) => {
    const { annotations, waiting, isKnown } = arrivalsUnderTest();
    expect(await annotations(name)).toEqual({});
    expect([waiting(), isKnown(name)]).toEqual([0, false]);
  },
);

test("a lookup of a new namespace waits even during a flood of made-up names", async () => {
  const { annotations, shows, waiting } = arrivalsUnderTest();
  for (let at = 0; at < 10_000; at += 1) void annotations(`made-up-${at}`);
  const honest = annotations("shop");
  for (let at = 0; at < 200; at += 1) void annotations(`later-${at}`);
  expect(await annotations("large", 7_000_000)).toEqual({});
  expect(waiting()).toBe(256);
  shows("shop", { a: "b" });
  expect(await honest).toEqual({ a: "b" });
});

test("under any load few lookups wait, their memory is limited, and all return in time", async () => {
  const step = fc.oneof(
    fc.record({ asks: fc.stringMatching(/^[a-c]{1,3}$/), characters: fc.integer({ min: 1, max: 8_000_000 }) }),
    fc.record({ shows: fc.stringMatching(/^[a-c]{1,3}$/) }),
    fc.record({ passes: fc.integer({ min: 0, max: 400 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
      const under = arrivalsUnderTest();
      const answers = new Map<Promise<unknown>, number>();
      const held = async (): Promise<number> => {
        let sum = 0;
        for (const [answer, characters] of answers) {
          if (await isOver(answer)) answers.delete(answer);
          else sum += characters;
        }
        return sum;
      };
      for (const each of steps) {
        if ("asks" in each) answers.set(under.annotations(each.asks, each.characters), each.characters);
        else if ("shows" in each) under.shows(each.shows);
        else under.passes(each.passes);
        expect(await held()).toBeLessThanOrEqual(4 * 1024 * 1024);
      }
      under.passes(LOOKUP_LIMIT_MS);
      expect([await held(), answers.size, under.waiting()]).toEqual([0, 0, 0]);
    }),
    { numRuns: 50 },
  );
});

test("the namespace cache stores only the fields that injection reads", () => {
  expect(reduceNamespace(SHOP)).toEqual({ "lastcall.dev/drain-delay": "9s" });
  expect(reduceNamespace({ metadata: { annotations: { "linkerd.io/inject": "enabled", x: "y" } } })).toEqual({
    "linkerd.io/inject": "enabled",
  });
  expect(reduceNamespace({ metadata: null })).toEqual({});
});

test("the namespace cache stores Istio's labels, and drops annotations of the same name", () => {
  const labels = { "istio-injection": "enabled", "istio.io/rev": "canary", team: "shop" };
  expect(reduceNamespace({ metadata: { labels } })).toEqual({ "istio-injection": "enabled", "istio.io/rev": "canary" });
  expect(reduceNamespace({ metadata: { annotations: { "istio-injection": "enabled" } } })).toEqual({});
  const ports = { "config.linkerd.io/skip-inbound-ports": "25" };
  expect(reduceNamespace({ metadata: { annotations: { ...ports, x: "y" } } })).toEqual(ports);
});
