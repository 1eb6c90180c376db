import { describe, expect, test } from "vitest";
import {
  dropOldest,
  findMissing,
  NO_IDENTITY,
  newestValidCa,
  type RelayIdentity,
  signingKey,
} from "../../../src/relay/identity/identity.ts";
import { createFakeCa, createFakeKey, DAY_MS, START_MS, YEAR_MS } from "./fake-tools.ts";

const HOUR_MS = 3_600_000;
const FIRST = createFakeCa("first", START_MS);
const KEY = createFakeKey("first", START_MS);
const IDENTITY: RelayIdentity = { cas: [FIRST], keys: [KEY] };

describe("a CA of the relay", () => {
  test("is injected into Pods for five years, and stays valid for five more years", () => {
    expect(findMissing(IDENTITY, START_MS + 5 * YEAR_MS).generation).toBe(false);
    expect(findMissing(IDENTITY, START_MS + 5 * YEAR_MS + 1).generation).toBe(true);
    expect(FIRST.validUntilMs - (START_MS + 5 * YEAR_MS)).toBe(5 * YEAR_MS);
  });

  test("is injected into Pods immediately if it is the newest CA, and the older CA stays valid", () => {
    const second = createFakeCa("second", START_MS + 5 * YEAR_MS);
    const identity = { ...IDENTITY, cas: [FIRST, second] };
    expect(newestValidCa(identity, START_MS + 5 * YEAR_MS)).toBe(second);
    expect(dropOldest(identity).cas).toContain(FIRST);
  });

  test("is injected into Pods only during its validity", () => {
    expect(newestValidCa(IDENTITY, FIRST.validUntilMs)).toBeUndefined();
    expect(newestValidCa(IDENTITY, FIRST.validFromMs - 1)).toBeUndefined();
    expect(findMissing(IDENTITY, FIRST.validFromMs - 1).generation).toBe(true);
  });
});

describe("a signing key of the relay", () => {
  test("is replaced after 90 days", () => {
    expect(findMissing(IDENTITY, START_MS + 90 * DAY_MS - 1).key).toBe(false);
    expect(findMissing(IDENTITY, START_MS + 90 * DAY_MS).key).toBe(true);
  });

  test("signs immediately if it is the only key, and otherwise an hour after its creation", () => {
    expect(signingKey(IDENTITY, START_MS)).toBe(KEY);
    const createdMs = START_MS + 90 * DAY_MS;
    const next = createFakeKey("next", createdMs);
    const identity = { ...IDENTITY, keys: [next, KEY] };
    expect(signingKey(identity, createdMs + HOUR_MS - 1)).toBe(KEY);
    expect(signingKey(identity, createdMs + HOUR_MS)).toBe(next);
  });

  test("signs first if it is the older of two keys that are less than an hour old", () => {
    const second = createFakeKey("second", START_MS + 60_000);
    expect(signingKey({ ...IDENTITY, keys: [second, KEY] }, START_MS + 120_000)).toBe(KEY);
  });

  test("verifies credentials for at least two years after its replacement", () => {
    let identity: RelayIdentity = IDENTITY;
    for (let day = 0; day <= 90 + 730; day += 1) {
      const wallMs = START_MS + day * DAY_MS;
      if (!findMissing(identity, wallMs).key) continue;
      identity = dropOldest({ ...identity, keys: [...identity.keys, createFakeKey(`of day ${day}`, wallMs)] });
    }
    expect(identity.keys).toContain(KEY);
    expect(identity.keys.length).toBeLessThanOrEqual(10);
  });

  test("with a future creation time does not sign, and does not prevent a new key", () => {
    const futureKey = createFakeKey("odd", START_MS + 10 * YEAR_MS);
    const identity = { ...IDENTITY, keys: [futureKey, KEY] };
    expect(signingKey(identity, START_MS + 2 * DAY_MS)).toBe(KEY);
    expect(findMissing(identity, START_MS + 90 * DAY_MS).key).toBe(true);
  });
});

test("a clock that jumps ten years ahead does not invalidate the credentials of running Pods", () => {
  const wallMs = START_MS + 10 * YEAR_MS;
  expect(findMissing(IDENTITY, wallMs)).toEqual({ generation: true, key: true });
  const limited = dropOldest({
    cas: [FIRST, createFakeCa("ahead", wallMs)],
    keys: [KEY, createFakeKey("ahead", wallMs)],
  });
  expect(limited.cas).toContain(FIRST);
  expect(limited.keys).toContain(KEY);
});

test("an empty relay identity requires a new CA and a new signing key", () => {
  expect(findMissing(NO_IDENTITY, START_MS)).toEqual({ generation: true, key: true });
  expect(newestValidCa(NO_IDENTITY, START_MS)).toBeUndefined();
  expect(signingKey(NO_IDENTITY, START_MS)).toBeUndefined();
});
