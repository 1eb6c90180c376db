import { expect, test } from "vitest";
import { adminLimits } from "../../../src/relay/page/admin-server.ts";

/** Requests that are answered, each sender at its own pace and all of them for one minute. */
function answered(senders: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const mayRead = adminLimits();
  const counts: Record<string, number> = {};
  for (let ms = 0; ms < 60_000; ms += 1)
    for (const [address, everyMs] of Object.entries(senders)) {
      if (ms % everyMs !== 0) continue;
      counts[address] = (counts[address] ?? 0) + (mayRead(address, ms) ? 1 : 0);
    }
  return counts;
}

test("an address that sends 40 requests a second takes none of another's, and is answered five a second", () => {
  expect(answered({ flood: 25, operator: 2_000 })).toEqual({ flood: 20 + 299, operator: 30 });
});

test("two such addresses take none of another's either", () => {
  expect(answered({ one: 25, two: 25, operator: 2_000 })["operator"]).toBe(30);
});

test("a hundred addresses together are answered twenty a second, so that lists hold up nothing else", () => {
  const crowd = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`10.0.0.${at}`, 1_000]));
  const sum = Object.values(answered(crowd)).reduce((all, one) => all + one, 0);
  expect(sum).toBeLessThanOrEqual(40 + 20 * 60);
  expect(sum).toBeGreaterThan(20 * 59);
});
