/** Tests reads of damaged or edited Secrets: valid entries are used, and each invalid entry is reported. */
import { expect, test } from "vitest";
import type { RetiredCa } from "../../../src/webhook/certificates/authority.ts";
import { contentOf, readContent } from "../../../src/webhook/certificates/secret-content.ts";
import { createFakeCa, createFakeTools } from "./fake-certificates.ts";

const tools = createFakeTools(() => "unused");
const read = (entries: Readonly<Record<string, string>>) => readContent(entries, tools);

const SIGNER = createFakeCa("signer", 0, 9_000);
const NEXT = createFakeCa("next", 0, 9_000);
const { key: _key, ...OLD } = createFakeCa("old", 0, 9_000);
const VALID_ENTRIES = { "ca.crt": SIGNER.cert, "ca.key": SIGNER.key, "next.crt": NEXT.cert, "next.key": NEXT.key };
const RETIRED_AT = "2026-01-02T03:04:05.000Z";
const retiredEntryOf = (...rows: readonly unknown[]) => ({ "retired.json": JSON.stringify(rows) });
const ROW = { retiredAt: RETIRED_AT, certificate: OLD.cert };
const INVALID_ROW_MESSAGE = "retired.json has an entry without valid fields retiredAt and certificate";

test("an empty Secret does not have CAs or errors", () => {
  const authority = { signer: undefined, next: undefined, retired: [] };
  expect(read({})).toEqual({ authority, keylessCas: [], secretErrors: [] });
});

test("the Secret's entries are read as they were written, unknown entries are ignored, and entries without a CA are deleted", () => {
  const dropped: RetiredCa = { ...OLD, retiredAtMs: Date.parse(RETIRED_AT), isDropped: true };
  const trusted: RetiredCa = { ...createFakeCa("older", 0, 9_000), retiredAtMs: 5_000, isDropped: false };
  const { key: _older, ...older } = trusted as RetiredCa & { key: string };
  const authority = { signer: SIGNER, next: undefined, retired: [dropped, older] };
  const content = contentOf(authority);
  expect(Object.keys(content)).toEqual(["ca.crt", "ca.key", "next.crt", "next.key", "retired.json"]);
  expect([content["next.crt"], content["next.key"]]).toEqual([undefined, undefined]);
  expect(JSON.parse(content["retired.json"] ?? "")).toEqual([
    { ...ROW, dropped: true },
    { retiredAt: "1970-01-01T00:00:05.000Z", certificate: older.cert },
  ]);
  const entries = Object.fromEntries(Object.entries(content).filter(([, text]) => text !== undefined));
  expect(read({ ...(entries as Record<string, string>), other: "x" })).toEqual({
    authority,
    keylessCas: [],
    secretErrors: [],
  });
  expect(contentOf({ ...authority, retired: [] })["retired.json"]).toBeUndefined();
});

test.for([
  ["ca", "signer"],
  ["next", "next"],
] as const)("a CA in %s.crt without a usable key cannot sign, and stays in the caBundle", ([name, role]) => {
  const { [`${name}.key` as const]: _gone, ...keyless } = VALID_ENTRIES;
  const { authority, keylessCas, secretErrors } = read(keyless as Record<string, string>);
  expect(secretErrors).toEqual([`${name}.key is missing`]);
  expect(keylessCas.map(({ id }) => id)).toEqual([(role === "signer" ? SIGNER : NEXT).id]);
  expect(authority[role]).toBeUndefined();
});

test("an unusable certificate of the signer is reported, and the next CA is still read", () => {
  const { authority, keylessCas, secretErrors } = read({ ...VALID_ENTRIES, "ca.crt": "no PEM" });
  expect(secretErrors).toEqual(["ca.crt is not one PEM certificate"]);
  expect([keylessCas, authority.signer, authority.next?.id]).toEqual([[], undefined, NEXT.id]);
});

test("a CA that is in both ca.crt and next.crt does not sign, because the caBundles may not contain it yet", () => {
  const { authority, secretErrors } = read({ ...VALID_ENTRIES, "next.crt": SIGNER.cert, "next.key": SIGNER.key });
  expect([authority.signer, authority.next?.id]).toEqual([undefined, SIGNER.id]);
  expect(secretErrors).toEqual(["ca.crt and next.crt contain the same CA"]);
});

test("a retired CA is read with its retiredAt, and is dropped only if the field `dropped` is true", () => {
  const { authority, secretErrors } = read(retiredEntryOf(ROW, { ...ROW, dropped: true }, { ...ROW, dropped: "yes" }));
  const retiredAtMs = Date.parse(RETIRED_AT);
  expect(secretErrors).toEqual([]);
  expect(authority.retired).toEqual([
    { ...OLD, retiredAtMs, isDropped: false },
    { ...OLD, retiredAtMs, isDropped: true },
    { ...OLD, retiredAtMs, isDropped: false },
  ]);
});

test.for<[title: string, entry: unknown]>([
  ["that is null", null],
  ["that is a number", 7],
  ["that is a string", "text"],
  ["that is empty", {}],
  ["without a retiredAt", { certificate: OLD.cert }],
  ["without a certificate", { retiredAt: RETIRED_AT }],
  ["whose retiredAt is a number", { ...ROW, retiredAt: 7 }],
  ["whose retiredAt is not a time", { ...ROW, retiredAt: "some day" }],
  ["whose certificate is a number", { ...ROW, certificate: 7 }],
  ["whose certificate is not PEM", { ...ROW, certificate: "no PEM" }],
])("an entry of the retired CAs %s is reported and skipped, and the next entry is still read", ([, row]) => {
  const { authority, secretErrors } = read(retiredEntryOf(row, ROW));
  expect(secretErrors).toEqual([INVALID_ROW_MESSAGE]);
  expect(authority.retired.map(({ id }) => id)).toEqual([OLD.id]);
});

test.for(["{", "{}", "null", ""])("a list of retired CAs that is %j is reported", (text) => {
  const { authority, secretErrors } = read({ "retired.json": text });
  expect([authority.retired, secretErrors]).toEqual([[], [INVALID_ROW_MESSAGE]]);
});
