import { expect, test } from "vitest";
import { createRequestLimit } from "../../../src/relay/page/admin-server.ts";

/** Sends requests for one minute at each client's interval in milliseconds. Returns the accepted requests of each client. */
function countAcceptedRequests(intervalsMs: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const takeToken = createRequestLimit();
  const counts: Record<string, number> = {};
  for (let ms = 0; ms < 60_000; ms += 1)
    for (const [address, everyMs] of Object.entries(intervalsMs)) {
      if (ms % everyMs !== 0) continue;
      counts[address] = (counts[address] ?? 0) + (takeToken(address, ms) ? 1 : 0);
    }
  return counts;
}

test("a client that sends 40 requests a second gets five responses a second, and other clients get all their responses", () => {
  expect(countAcceptedRequests({ flood: 25, operator: 2_000 })).toEqual({ flood: 20 + 299, operator: 30 });
});

test("two clients that send 40 requests a second do not affect the responses to other clients", () => {
  expect(countAcceptedRequests({ one: 25, two: 25, operator: 2_000 })["operator"]).toBe(30);
});

test("a hundred clients together get twenty responses a second, so that lists do not delay other work", () => {
  const manyClients = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`10.0.0.${index}`, 1_000]));
  const total = Object.values(countAcceptedRequests(manyClients)).reduce((sum, count) => sum + count, 0);
  expect(total).toBeLessThanOrEqual(40 + 20 * 60);
  expect(total).toBeGreaterThan(20 * 59);
});
