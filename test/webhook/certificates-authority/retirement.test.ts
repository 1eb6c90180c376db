/** Tests, to the millisecond, how long CAs are valid, how long retired CAs are trusted, and how long dropped CAs are stored. */
import { expect, test } from "vitest";
import { isValidAt } from "../../../src/authority/certificate.ts";
import {
  isOverdue,
  type RetiredCa,
  storedCas,
  trustedCas,
  withinLimits,
} from "../../../src/webhook/certificates/authority.ts";
import { createFakeCa } from "./fake-certificates.ts";

const HOUR_MS = 3_600_000;
const LIFETIMES = { caLifeMs: 240 * HOUR_MS, leafLifeMs: 24 * HOUR_MS, settleMs: 60_000, dropDelayMs: 60_000 };
/** The lifetime of a leaf, plus 1/24 of that lifetime, plus a minute. */
const TRUST_MS = 25 * HOUR_MS + 60_000;

function createRetiredCa(name: string, isDropped = false): RetiredCa {
  const { key: _key, ...ca } = createFakeCa(name, 0, LIFETIMES.caLifeMs);
  return { ...ca, retiredAtMs: 1_000, isDropped };
}

const createRetiredCas = (count: number, isDropped = false) =>
  Array.from({ length: count }, (_, at) => createRetiredCa(`${isDropped ? "dropped" : "trusted"}-${at}`, isDropped));

test("a CA is valid from notBefore until one millisecond before notAfter", () => {
  const ca = createFakeCa("a", 100, 200);
  expect([99, 100, 199, 200].map((wallMs) => isValidAt(ca, wallMs))).toEqual([false, true, true, false]);
});

test("a CA that is marked as dropped stays in the Secret, and is not in the caBundle", () => {
  const authority = {
    signer: createFakeCa("a", 0, 1),
    next: undefined,
    retired: [createRetiredCa("b"), createRetiredCa("c", true)],
  };
  const [a, b, c] = [authority.signer.id, createRetiredCa("b").id, createRetiredCa("c").id];
  expect(trustedCas(authority).map(({ id }) => id)).toEqual([a, b]);
  expect(storedCas(authority).map(({ id }) => id)).toEqual([a, b, c]);
});

test("a retired CA must be dropped when its last leaf certificate has expired and a margin has passed", () => {
  const dueMs = 1_000 + TRUST_MS;
  expect([dueMs - 1, dueMs].map((wallMs) => isOverdue(createRetiredCa("a"), wallMs, LIFETIMES))).toEqual([false, true]);
  expect(isOverdue(createRetiredCa("a", true), dueMs, LIFETIMES)).toBe(false);
});

test("the Secret contains a retired CA until it is dropped, and a dropped CA for a limited time after its retirement", () => {
  const removalMs = 1_000 + 2 * TRUST_MS;
  const retiredCas = [createRetiredCa("a"), createRetiredCa("b", true)];
  expect(withinLimits(retiredCas, removalMs - 1, LIFETIMES)).toEqual(retiredCas);
  expect(withinLimits(retiredCas, removalMs, LIFETIMES)).toEqual([createRetiredCa("a")]);
});

test("the first of two entries for one retired CA applies", () => {
  expect(withinLimits([createRetiredCa("a", true), createRetiredCa("a")], 1_000, LIFETIMES)).toEqual([
    createRetiredCa("a", true),
  ]);
});

test("the caBundle contains at most 24 retired CAs, and the Secret at most 48", () => {
  expect(withinLimits(createRetiredCas(24), 1_000, LIFETIMES)).toEqual(createRetiredCas(24));
  const limitedCas = withinLimits([...createRetiredCas(30, true), ...createRetiredCas(30)], 1_000, LIFETIMES);
  expect(limitedCas).toHaveLength(48);
  expect(limitedCas.filter(({ isDropped }) => !isDropped)).toHaveLength(18);
  const limitedTrustedCas = withinLimits(createRetiredCas(60), 1_000, LIFETIMES);
  expect(limitedTrustedCas.map(({ isDropped }) => isDropped)).toEqual(Array.from({ length: 48 }, (_, at) => at >= 24));
});
