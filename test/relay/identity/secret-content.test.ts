import { beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf } from "../../../src/authority/certificate.ts";
import type { RelayIdentity } from "../../../src/relay/identity/identity.ts";
import { changesTo, entriesOf, IDENTITY_TOOLS, readContent } from "../../../src/relay/identity/secret-content.ts";
import { START_MS } from "./fake-tools.ts";

const stored: { identity: RelayIdentity; entries: Readonly<Record<string, string>> } = {
  identity: { cas: [], keys: [] },
  entries: {},
};
beforeAll(async () => {
  const cas = [await IDENTITY_TOOLS.makeCa(START_MS, START_MS), await IDENTITY_TOOLS.makeCa(START_MS, START_MS)];
  stored.identity = { cas, keys: [IDENTITY_TOOLS.makeKey(START_MS), IDENTITY_TOOLS.makeKey(START_MS)] };
  stored.entries = entriesOf(stored.identity);
}, 60_000);

const sortIdentity = ({ cas, keys }: RelayIdentity) => ({
  cas: cas.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  keys: keys.toSorted((a, b) => (a.kid < b.kid ? -1 : 1)),
});

test("written entries of the relay's Secret are read back, and unknown entries are ignored", () => {
  const content = readContent({ ...stored.entries, "ca.crt": "theirs", "sign-x.json": "{}", ca: "" });
  expect(content.secretErrors).toEqual([]);
  expect(sortIdentity(content.identity)).toEqual(sortIdentity(stored.identity));
  expect(entriesOf(sortIdentity(content.identity))).toEqual(stored.entries);
  expect(Object.keys(changesTo(content, stored.identity)).toSorted()).toEqual(Object.keys(stored.entries).toSorted());
});

test("an empty relay Secret does not have errors", () => {
  expect(readContent({})).toEqual({ identity: { cas: [], keys: [] }, secretErrors: [], names: [] });
});

describe("an invalid entry is reported with its key, and the other entries are kept:", () => {
  const fingerprintsOfCas = () => stored.identity.cas.map(fingerprintOf);
  const nameOf = (index: number, part: "crt" | "key") => `ca-${fingerprintsOfCas()[index]}.${part}`;
  const nameOfKey = () => `sign-${stored.identity.keys[0]?.kid}.json`;
  type InvalidEntryCase = {
    title: string;
    change: () => Record<string, string | undefined>;
    error: string;
    validCounts: [number, number];
  };
  const cases: readonly InvalidEntryCase[] = [
    {
      title: "a private key without its CA",
      change: () => ({ [nameOf(0, "crt")]: undefined }),
      error: ".crt is missing",
      validCounts: [1, 2],
    },
    {
      title: "a CA under the key of another CA",
      change: () => ({
        [nameOf(0, "crt")]: stored.entries[nameOf(1, "crt")],
        [nameOf(0, "key")]: stored.entries[nameOf(1, "key")],
      }),
      error: "contains a CA whose fingerprint is not in the entry's name",
      validCounts: [1, 2],
    },
    {
      title: "a truncated signing key",
      change: () => ({ [nameOfKey()]: '{"made":"2026' }),
      error: 'the fields "made" and "secret" are missing or invalid',
      validCounts: [2, 1],
    },
    {
      title: "a signing key that is too short",
      change: () => ({ [nameOfKey()]: JSON.stringify({ made: "2026-08-01T00:00:00Z", secret: "c2hvcnQ=" }) }),
      error: 'the fields "made" and "secret" are missing or invalid',
      validCounts: [2, 1],
    },
    {
      title: "a signing key with an invalid date",
      change: () => ({ [nameOfKey()]: JSON.stringify({ made: "today", secret: Buffer.alloc(32).toString("base64") }) }),
      error: 'the fields "made" and "secret" are missing or invalid',
      validCounts: [2, 1],
    },
    {
      title: "a signing key that is null",
      change: () => ({ [nameOfKey()]: "null" }),
      error: 'the fields "made" and "secret" are missing or invalid',
      validCounts: [2, 1],
    },
  ];
  test.for(cases)("$title", ({ change, error, validCounts }) => {
    const changedEntries = Object.entries({ ...stored.entries, ...change() });
    const content = readContent(
      Object.fromEntries(changedEntries.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    );
    expect(content.secretErrors).toHaveLength(1);
    expect(content.secretErrors[0]).toContain(error);
    expect([content.identity.cas.length, content.identity.keys.length]).toEqual(validCounts);
    // The next write removes invalid entries.
    const removedEntries = Object.entries(changesTo(content, content.identity)).filter(
      ([, text]) => text === undefined,
    );
    expect(removedEntries.length).toBeGreaterThan(0);
  });

  test("a CA that another program made", async () => {
    const { makeCaPair } = await import("../../../src/authority/signing.ts");
    const foreignCa = await makeCaPair("someone's CA", { fromMs: START_MS, untilMs: START_MS + 86_400_000 });
    const id = "0123456789abcdef";
    const content = readContent({ [`ca-${id}.crt`]: foreignCa.cert, [`ca-${id}.key`]: foreignCa.key });
    expect(content.secretErrors).toEqual([
      `ca-${id}.crt has the subject "CN=someone's CA" and was not made by lastcall`,
    ]);
  });
});
