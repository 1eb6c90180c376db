import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type BodyStart,
  createBodyBudget,
  isTooSlow,
  MIN_BYTES_PER_SECOND,
  type RejectReason,
} from "../../../src/webhook/intake/body-budget.ts";

function budgetWithLog(limitBytes = 1_000, addressBytes = limitBytes) {
  const budget = createBodyBudget(limitBytes, addressBytes);
  const cuts: string[] = [];
  const take = (name: string, nowMs = 0, isKnown = false, more: Partial<BodyStart> = {}) =>
    budget.reserve({ nowMs, isKnown, isSmall: false, address: name, ...more }, (why: RejectReason) =>
      cuts.push(`${name} ${why}`),
    );
  return { budget, cuts, take };
}

describe("the memory limit of request bodies", () => {
  test("aborts as many of the oldest incomplete bodies as a newer one needs", () => {
    const { cuts, take } = budgetWithLog();
    for (const name of ["first", "second", "third"]) take(name).grow(300, 300);
    take("fourth").grow(700, 700);
    expect(cuts).toEqual(["first bodies_full", "second bodies_full"]);
  });

  test("aborts bodies of unknown connections before those of connections with earlier reviews", () => {
    const { cuts, take } = budgetWithLog();
    take("known", 0, true).grow(600, 600);
    take("unknown").grow(300, 300);
    take("another", 0, true).grow(300, 300);
    expect(cuts).toEqual(["unknown bodies_full"]);
    take("third", 0, true).grow(500, 500);
    expect(cuts).toEqual(["unknown bodies_full", "known bodies_full"]);
  });

  test("aborts a newer body instead of a complete one, until the complete one is released", () => {
    const { budget, cuts, take } = budgetWithLog();
    const whole = take("complete");
    whole.grow(900, 900);
    whole.complete();
    take("newer").grow(200, 200);
    expect(cuts).toEqual(["newer bodies_full"]);
    expect(budget.bufferedBytes()).toBe(900);
    whole.release();
    take("newest").grow(1_000, 1_000);
    expect(cuts).toHaveLength(1);
  });

  test("does not count or abort a small body", () => {
    const { budget, cuts, take } = budgetWithLog();
    const small = take("small", 0, false, { isSmall: true });
    small.grow(10, 10);
    const whole = take("complete");
    whole.grow(500, 500);
    whole.complete();
    take("large").grow(600, 600);
    expect(cuts).toEqual(["large bodies_full"]);
    expect(budget.bufferedBytes()).toBe(500);
    small.release();
  });

  test("allows one client address at most its share", () => {
    const { budget, cuts, take } = budgetWithLog(1_000, 500);
    for (const name of ["a", "b", "c"]) take(name, 0, true, { address: "10.0.0.9" }).grow(250, 250);
    expect(cuts).toEqual(["a bodies_full"]);
    take("other", 0, true, { address: "10.0.0.1" }).grow(500, 500);
    expect([cuts.length, budget.bufferedBytes()]).toEqual([1, 1_000]);
  });

  test("holds in any order of events, and all memory is released at the end", () => {
    const step = fc.record({ body: fc.nat(20), bytes: fc.integer({ min: 1, max: 900 }), ends: fc.boolean() });
    const property = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { budget, take } = budgetWithLog();
      const places = new Map<number, ReturnType<typeof take>>();
      for (const { body, bytes, ends } of steps) {
        const place = places.get(body) ?? take(String(body), 0, body % 2 === 0);
        places.set(body, place);
        place.grow(bytes, bytes);
        expect(budget.bufferedBytes()).toBeLessThanOrEqual(1_000);
        if (ends) place.release();
        if (ends) places.delete(body);
      }
      for (const place of places.values()) place.release();
      expect(budget.bufferedBytes()).toBe(0);
      expect(budget.incompleteBodies()).toBe(0);
    });
    void fc.assert(property);
  });
});

describe("the minimum speed of request bodies", () => {
  test("aborts a body of one byte a second after five seconds, and none at the minimum speed", () => {
    for (let ageMs = 0; ageMs <= 40_000; ageMs += 100) {
      expect(isTooSlow((MIN_BYTES_PER_SECOND * ageMs) / 1_000, ageMs)).toBe(false);
      expect(isTooSlow(ageMs / 1_000, ageMs)).toBe(ageMs > 5_000);
    }
  });

  test("aborts all slow bodies, of known and unknown connections, and no other", () => {
    const { budget, cuts, take } = budgetWithLog(100_000_000);
    take("slow").grow(5, 5);
    take("known and slow", 0, true).grow(5, 5);
    take("fast").grow(20_000_000, 20_000_000);
    const whole = take("complete");
    whole.grow(5, 5);
    whole.complete();
    take("young", 6_000).grow(1, 1);
    budget.rejectSlow(4_000);
    expect(cuts).toEqual([]);
    budget.rejectSlow(6_000);
    expect(cuts).toEqual(["slow slow_body", "known and slow slow_body"]);
  });
});
