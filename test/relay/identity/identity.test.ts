import { describe, expect, test } from "vitest";
import {
  keptOf,
  missingFrom,
  NO_IDENTITY,
  newestGeneration,
  type RelayIdentity,
  signingKey,
} from "../../../src/relay/identity/identity.ts";
import { DAY_MS, pretendGeneration, pretendKey, START_MS, YEAR_MS } from "./pretend-tools.ts";

const HOUR_MS = 3_600_000;
const FIRST = pretendGeneration("first", START_MS);
const KEY = pretendKey("first", START_MS);
const BOTH: RelayIdentity = { generations: [FIRST], keys: [KEY] };

describe("a CA generation", () => {
  test("is given to Pods for five years, and each of those Pods can use it for five more", () => {
    expect(missingFrom(BOTH, START_MS + 5 * YEAR_MS).generation).toBe(false);
    expect(missingFrom(BOTH, START_MS + 5 * YEAR_MS + 1).generation).toBe(true);
    expect(FIRST.validUntilMs - (START_MS + 5 * YEAR_MS)).toBe(5 * YEAR_MS);
  });

  test("that is newer is given at once and the older one stays to its end", () => {
    const second = pretendGeneration("second", START_MS + 5 * YEAR_MS);
    const identity = { ...BOTH, generations: [FIRST, second] };
    expect(newestGeneration(identity, START_MS + 5 * YEAR_MS)).toBe(second);
    expect(keptOf(identity).generations).toContain(FIRST);
  });

  test("is not given once it has expired, nor while it is not valid yet", () => {
    expect(newestGeneration(BOTH, FIRST.validUntilMs)).toBeUndefined();
    expect(newestGeneration(BOTH, FIRST.validFromMs - 1)).toBeUndefined();
    expect(missingFrom(BOTH, FIRST.validFromMs - 1).generation).toBe(true);
  });
});

describe("a signing key", () => {
  test("is followed by another one after 90 days", () => {
    expect(missingFrom(BOTH, START_MS + 90 * DAY_MS - 1).key).toBe(false);
    expect(missingFrom(BOTH, START_MS + 90 * DAY_MS).key).toBe(true);
  });

  test("signs at once when it is the only one, else an hour after it was made", () => {
    expect(signingKey(BOTH, START_MS)).toBe(KEY);
    const madeMs = START_MS + 90 * DAY_MS;
    const next = pretendKey("next", madeMs);
    const identity = { ...BOTH, keys: [next, KEY] };
    expect(signingKey(identity, madeMs + HOUR_MS - 1)).toBe(KEY);
    expect(signingKey(identity, madeMs + HOUR_MS)).toBe(next);
  });

  test("is the older one of two that are both new", () => {
    const second = pretendKey("second", START_MS + 60_000);
    expect(signingKey({ ...BOTH, keys: [second, KEY] }, START_MS + 120_000)).toBe(KEY);
  });

  test("verifies for at least two years after it has signed last", () => {
    let identity: RelayIdentity = BOTH;
    for (let day = 0; day <= 90 + 730; day += 1) {
      const wallMs = START_MS + day * DAY_MS;
      if (!missingFrom(identity, wallMs).key) continue;
      identity = keptOf({ ...identity, keys: [...identity.keys, pretendKey(`of day ${day}`, wallMs)] });
    }
    expect(identity.keys).toContain(KEY);
    expect(identity.keys.length).toBeLessThanOrEqual(10);
  });

  test("that a clock of the future made neither signs nor keeps the present from making its own", () => {
    const odd = pretendKey("odd", START_MS + 10 * YEAR_MS);
    const identity = { ...BOTH, keys: [odd, KEY] };
    expect(signingKey(identity, START_MS + 2 * DAY_MS)).toBe(KEY);
    expect(missingFrom(identity, START_MS + 90 * DAY_MS).key).toBe(true);
  });
});

test("a clock that jumps ten years ahead drops nothing that Pods of the present carry", () => {
  const wallMs = START_MS + 10 * YEAR_MS;
  expect(missingFrom(BOTH, wallMs)).toEqual({ generation: true, key: true });
  const kept = keptOf({
    generations: [FIRST, pretendGeneration("ahead", wallMs)],
    keys: [KEY, pretendKey("ahead", wallMs)],
  });
  expect(kept.generations).toContain(FIRST);
  expect(kept.keys).toContain(KEY);
});

test("where there is nothing, everything is missing", () => {
  expect(missingFrom(NO_IDENTITY, START_MS)).toEqual({ generation: true, key: true });
  expect(newestGeneration(NO_IDENTITY, START_MS)).toBeUndefined();
  expect(signingKey(NO_IDENTITY, START_MS)).toBeUndefined();
});
