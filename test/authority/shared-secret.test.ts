/** Tests reads of CAs from the entries of a Secret, and writes of the Secret. */
import { expect, test } from "vitest";
import type { SecretStore, StoredSecret } from "../../src/api-server/secret-store.ts";
import type { WriteResult } from "../../src/api-server/stored-object.ts";
import { parseJson, readCaEntries, type SecretEvent, writeSecret } from "../../src/authority/shared-secret.ts";
import { createFakeCa, createFakeTools } from "../webhook/certificates-authority/fake-certificates.ts";

const TOOLS = createFakeTools(() => "unused");
const SIGNER = createFakeCa("signer", 0, 9_000);
const { key, ...CA } = SIGNER;

test.for([
  {
    title: "certificate and key",
    entries: { "a.crt": SIGNER.cert, "a.key": key },
    read: { kind: "signing", ca: SIGNER },
  },
  { title: "neither certificate nor key", entries: { "b.crt": SIGNER.cert }, read: { kind: "missing" } },
  {
    title: "no key",
    entries: { "a.crt": SIGNER.cert },
    read: { kind: "unusable", error: "a.key is missing", ca: CA },
  },
  {
    title: "the key of another CA",
    entries: { "a.crt": SIGNER.cert, "a.key": "another" },
    read: { kind: "unusable", error: "a.key is not the key of a.crt", ca: CA },
  },
  {
    title: "no certificate",
    entries: { "a.key": key },
    read: { kind: "unusable", error: "a.crt is not one PEM certificate" },
  },
  {
    title: "a truncated certificate",
    entries: { "a.crt": SIGNER.cert.slice(0, 40), "a.key": key },
    read: { kind: "unusable", error: "a.crt is not one PEM certificate" },
  },
])("Secret entries with $title are read as `$read.kind`", ({ entries, read }) => {
  expect(readCaEntries(entries as Readonly<Record<string, string>>, "a", TOOLS)).toEqual(read);
});

test("parseJson returns undefined for text that is not JSON", () => {
  expect([parseJson("{"), parseJson(""), parseJson("null"), parseJson("[1]")]).toEqual([
    undefined,
    undefined,
    null,
    [1],
  ]);
});

async function writeToSecret(
  stored: StoredSecret | undefined,
  result: WriteResult,
  secretErrors: readonly string[] = [],
) {
  const calls: unknown[] = [];
  const events: SecretEvent<string>[] = [];
  const secrets: SecretStore = {
    read: async () => stored,
    create: async (data) => {
      calls.push({ create: data });
      return result;
    },
    update: async (_seen, changes) => {
      calls.push({ update: changes });
      return result;
    },
  };
  const changes = { "a.crt": "new", "b.crt": undefined };
  const ports = { secrets, recordEvent: (event: SecretEvent<string>) => events.push(event) };
  await writeSecret(ports, { stored, secretErrors }, { changes, reason: "repair" });
  return { calls, events };
}

test("a missing Secret is created without the entries to remove, and an existing Secret is updated", async () => {
  const expectedEvents = [{ kind: "secret-written", reason: "repair" }];
  expect(await writeToSecret(undefined, "done")).toStrictEqual({
    calls: [{ create: { "a.crt": "new" } }],
    events: expectedEvents,
  });
  expect(await writeToSecret({ resourceVersion: "1", data: {} }, "done")).toStrictEqual({
    calls: [{ update: { "a.crt": "new", "b.crt": undefined } }],
    events: expectedEvents,
  });
});

test("unusable entries of the Secret are recorded before the write, and a conflict after the write", async () => {
  const { events } = await writeToSecret(undefined, "conflict", ["a.key is missing"]);
  expect(events).toEqual([
    { kind: "secret-errors", errors: ["a.key is missing"] },
    { kind: "conflict", on: "Secret" },
  ]);
});
