import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type BodyStart,
  createBodyBudget,
  isTooSlow,
  MIN_BYTES_PER_SECOND,
  type RejectReason,
} from "../../../src/webhook/intake/body-budget.ts";

function createBudget(limitBytes = 1_000, addressBytes = limitBytes) {
  const budget = createBodyBudget(limitBytes, addressBytes);
  const rejections: string[] = [];
  const reserve = (name: string, nowMs = 0, isKnown = false, overrides: Partial<BodyStart> = {}) =>
    budget.reserve({ nowMs, isKnown, isSmall: false, address: name, ...overrides }, (why: RejectReason) =>
      rejections.push(`${name} ${why}`),
    );
  return { budget, rejections, reserve };
}

describe("the memory limit of request bodies", () => {
  test("rejects as many of the oldest incomplete bodies as a newer body needs", () => {
    const { rejections, reserve } = createBudget();
    for (const name of ["first", "second", "third"]) reserve(name).grow(300, 300);
    reserve("fourth").grow(700, 700);
    expect(rejections).toEqual(["first bodies_full", "second bodies_full"]);
  });

  test("rejects bodies of connections without earlier reviews before bodies of connections with earlier reviews", () => {
    const { rejections, reserve } = createBudget();
    reserve("known", 0, true).grow(600, 600);
    reserve("unknown").grow(300, 300);
    reserve("another", 0, true).grow(300, 300);
    expect(rejections).toEqual(["unknown bodies_full"]);
    reserve("third", 0, true).grow(500, 500);
    expect(rejections).toEqual(["unknown bodies_full", "known bodies_full"]);
  });

  test("rejects a newer body instead of a complete body, until the complete body is released", () => {
    const { budget, rejections, reserve } = createBudget();
    const complete = reserve("complete");
    complete.grow(900, 900);
    complete.complete();
    reserve("newer").grow(200, 200);
    expect(rejections).toEqual(["newer bodies_full"]);
    expect(budget.bufferedBytes()).toBe(900);
    complete.release();
    reserve("newest").grow(1_000, 1_000);
    expect(rejections).toHaveLength(1);
  });

  test("does not count or reject a small body", () => {
    const { budget, rejections, reserve } = createBudget();
    const small = reserve("small", 0, false, { isSmall: true });
    small.grow(10, 10);
    const complete = reserve("complete");
    complete.grow(500, 500);
    complete.complete();
    reserve("large").grow(600, 600);
    expect(rejections).toEqual(["large bodies_full"]);
    expect(budget.bufferedBytes()).toBe(500);
    small.release();
  });

  test("limits the bodies of one client address to a share of the memory", () => {
    const { budget, rejections, reserve } = createBudget(1_000, 500);
    for (const name of ["a", "b", "c"]) reserve(name, 0, true, { address: "10.0.0.9" }).grow(250, 250);
    expect(rejections).toEqual(["a bodies_full"]);
    reserve("other", 0, true, { address: "10.0.0.1" }).grow(500, 500);
    expect([rejections.length, budget.bufferedBytes()]).toEqual([1, 1_000]);
  });

  test("is never exceeded in any order of events, and all memory is released at the end", () => {
    const step = fc.record({ body: fc.nat(20), bytes: fc.integer({ min: 1, max: 900 }), ends: fc.boolean() });
    const property = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { budget, reserve } = createBudget();
      const reservations = new Map<number, ReturnType<typeof reserve>>();
      for (const { body, bytes, ends } of steps) {
        const reservation = reservations.get(body) ?? reserve(String(body), 0, body % 2 === 0);
        reservations.set(body, reservation);
        reservation.grow(bytes, bytes);
        expect(budget.bufferedBytes()).toBeLessThanOrEqual(1_000);
        if (ends) reservation.release();
        if (ends) reservations.delete(body);
      }
      for (const reservation of reservations.values()) reservation.release();
      expect(budget.bufferedBytes()).toBe(0);
      expect(budget.incompleteBodyCount()).toBe(0);
    });
    void fc.assert(property);
  });
});

describe("the minimum rate of request bodies", () => {
  test("rejects a body at one byte a second after five seconds, and accepts a body at the minimum rate", () => {
    for (let ageMs = 0; ageMs <= 40_000; ageMs += 100) {
      expect(isTooSlow((MIN_BYTES_PER_SECOND * ageMs) / 1_000, ageMs)).toBe(false);
      expect(isTooSlow(ageMs / 1_000, ageMs)).toBe(ageMs > 5_000);
    }
  });

  test("rejects exactly the slow bodies, of connections with and without earlier reviews", () => {
    const { budget, rejections, reserve } = createBudget(100_000_000);
    reserve("slow").grow(5, 5);
    reserve("known and slow", 0, true).grow(5, 5);
    reserve("fast").grow(20_000_000, 20_000_000);
    const complete = reserve("complete");
    complete.grow(5, 5);
    complete.complete();
    reserve("young", 6_000).grow(1, 1);
    budget.rejectSlow(4_000);
    expect(rejections).toEqual([]);
    budget.rejectSlow(6_000);
    expect(rejections).toEqual(["slow slow_body", "known and slow slow_body"]);
  });
});
