/** Tests the validity of CAs, the trust in retired CAs, and the storage of dropped CAs, to the millisecond. */
import { expect, test } from "vitest";
import { isValidAt } from "../../../src/authority/certificate.ts";
import {
  isOverdue,
  type RetiredCa,
  storedCas,
  trustedCas,
  withinLimits,
} from "../../../src/webhook/certificates/authority.ts";
import { fakeCa } from "./fake-certificates.ts";

const HOUR_MS = 3_600_000;
const LIFETIMES = { caLifeMs: 240 * HOUR_MS, leafLifeMs: 24 * HOUR_MS, settleMs: 60_000, dropDelayMs: 60_000 };
/** The lifetime of a leaf, plus 1/24 of that lifetime, plus a minute. */
const TRUSTED_MS = 25 * HOUR_MS + 60_000;

function retired(name: string, isDropped = false): RetiredCa {
  const { key: _key, ...ca } = fakeCa(name, 0, LIFETIMES.caLifeMs);
  return { ...ca, retiredAtMs: 1_000, isDropped };
}

const manyRetired = (count: number, isDropped = false) =>
  Array.from({ length: count }, (_, at) => retired(`${isDropped ? "dropped" : "trusted"}-${at}`, isDropped));

test("a CA is valid from notBefore until one millisecond before notAfter", () => {
  const ca = fakeCa("a", 100, 200);
  expect([99, 100, 199, 200].map((wallMs) => isValidAt(ca, wallMs))).toEqual([false, true, true, false]);
});

test("a CA that is marked as dropped stays in the Secret, and is not in the caBundle", () => {
  const authority = { signer: fakeCa("a", 0, 1), next: undefined, retired: [retired("b"), retired("c", true)] };
  const [a, b, c] = [authority.signer.id, retired("b").id, retired("c").id];
  expect(trustedCas(authority).map(({ id }) => id)).toEqual([a, b]);
  expect(storedCas(authority).map(({ id }) => id)).toEqual([a, b, c]);
});

test("a retired CA must be dropped when its last leaf certificate has expired and a margin has passed", () => {
  const dueMs = 1_000 + TRUSTED_MS;
  expect([dueMs - 1, dueMs].map((wallMs) => isOverdue(retired("a"), wallMs, LIFETIMES))).toEqual([false, true]);
  expect(isOverdue(retired("a", true), dueMs, LIFETIMES)).toBe(false);
});

test("the Secret contains a retired CA until it is dropped, and a dropped CA for a limited time after its retirement", () => {
  const forgottenMs = 1_000 + 2 * TRUSTED_MS;
  const both = [retired("a"), retired("b", true)];
  expect(withinLimits(both, forgottenMs - 1, LIFETIMES)).toEqual(both);
  expect(withinLimits(both, forgottenMs, LIFETIMES)).toEqual([retired("a")]);
});

test("the first of two entries for one retired CA applies", () => {
  expect(withinLimits([retired("a", true), retired("a")], 1_000, LIFETIMES)).toEqual([retired("a", true)]);
});

test("the caBundle contains at most 24 retired CAs, and the Secret at most 48", () => {
  expect(withinLimits(manyRetired(24), 1_000, LIFETIMES)).toEqual(manyRetired(24));
  const limited = withinLimits([...manyRetired(30, true), ...manyRetired(30)], 1_000, LIFETIMES);
  expect(limited).toHaveLength(48);
  expect(limited.filter(({ isDropped }) => !isDropped)).toHaveLength(18);
  const crowded = withinLimits(manyRetired(60), 1_000, LIFETIMES);
  expect(crowded.map(({ isDropped }) => isDropped)).toEqual(Array.from({ length: 48 }, (_, at) => at >= 24));
});
