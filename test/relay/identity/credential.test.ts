import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CredentialClaims } from "../../../src/contract/relay-wire.ts";
import { mintCredential, readCredential } from "../../../src/relay/identity/credential.ts";
import type { SigningKey } from "../../../src/relay/identity/identity.ts";
import { createFakeKey, START_MS } from "./fake-tools.ts";

const KEY = createFakeKey("one", START_MS);
const OTHER_KEY = createFakeKey("other", START_MS);
const CLAIMS: CredentialClaims = {
  namespace: "shop",
  ownerKind: "ReplicaSet",
  ownerName: "web-5d9c8b7f6",
  ownerUid: "0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9",
  nonce: "0123456789abcdef",
};
const TIMEOUT = { timeout: 300_000 };

const keyFinderOf =
  (...keys: readonly SigningKey[]) =>
  (kid: string) =>
    keys.find((key) => key.kid === kid);
const readWith = (text: string, ...keys: readonly SigningKey[]) => readCredential(text, keyFinderOf(...keys));

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('"', "\\", "\n", "\u0000"), fc.constantFrom("é", "漢", "😀", "a", ".")),
  maxLength: 40,
});
const anyClaims: fc.Arbitrary<CredentialClaims> = fc.record({
  namespace: anyText,
  ownerKind: anyText,
  ownerName: anyText,
  ownerUid: anyText,
  nonce: anyText,
});

test("any claims survive the round trip through a credential", TIMEOUT, () => {
  fc.assert(
    fc.property(anyClaims, (claims) => {
      const text = mintCredential(claims, KEY);
      fc.pre(text.length <= 1_024);
      expect(readWith(text, OTHER_KEY, KEY)).toEqual({ claims, key: KEY });
    }),
  );
});

test("any changed character makes a credential invalid", TIMEOUT, () => {
  const text = mintCredential(CLAIMS, KEY);
  const alphabet = "ABCXYZabcxyz0189-_.=+/ \n\u0000é";
  for (let index = 0; index < text.length; index += 1) {
    for (const character of alphabet) {
      if (text[index] === character) continue;
      expect(readWith(text.slice(0, index) + character + text.slice(index + 1), KEY, OTHER_KEY)).toBeUndefined();
    }
    expect(readWith(text.slice(0, index) + text.slice(index + 1), KEY)).toBeUndefined();
    expect(readWith(`${text.slice(0, index)}A${text.slice(index)}`, KEY)).toBeUndefined();
  }
  expect(readWith(`${text}A`, KEY)).toBeUndefined();
});

test("no random text is a valid credential, and the parser never throws", TIMEOUT, () => {
  const part = fc.oneof(fc.string({ unit: "binary" }), fc.base64String(), fc.constantFrom(KEY.kid, "", "a".repeat(43)));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), fc.constantFrom(".", "", " "), (parts, separator) => {
      expect(readWith(parts.join(separator), KEY)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

describe("a credential is rejected", () => {
  test("if the signing key is unknown", () => {
    expect(readWith(mintCredential(CLAIMS, KEY), OTHER_KEY)).toBeUndefined();
  });

  test("if another key with the same name signed it", () => {
    const otherKey = { ...OTHER_KEY, kid: KEY.kid };
    expect(readWith(mintCredential(CLAIMS, otherKey), KEY)).toBeUndefined();
  });

  test("if its parts are from two credentials", () => {
    const [kid, , mac] = mintCredential(CLAIMS, KEY).split(".");
    const [, payload] = mintCredential({ ...CLAIMS, namespace: "elsewhere" }, KEY).split(".");
    expect(readWith(`${kid}.${payload}.${mac}`, KEY)).toBeUndefined();
  });

  test("if it is longer than the limit", () => {
    const longCredential = mintCredential({ ...CLAIMS, ownerName: "x".repeat(800) }, KEY);
    expect(longCredential.length).toBeGreaterThan(1_024);
    expect(readWith(longCredential, KEY)).toBeUndefined();
    expect(readWith("a".repeat(5_000_000), KEY)).toBeUndefined();
  });
});

test("a credential with the longest Kubernetes names is within the limit", () => {
  const claims = {
    namespace: "n".repeat(63),
    ownerKind: "K".repeat(63),
    ownerName: "o".repeat(253),
    ownerUid: "u".repeat(64),
    nonce: "0123456789abcdef",
  };
  expect(readWith(mintCredential(claims, KEY), KEY)?.claims).toEqual(claims);
});

test("a usual credential has less than 300 characters", () => {
  expect(mintCredential(CLAIMS, KEY).length).toBeLessThan(300);
});
