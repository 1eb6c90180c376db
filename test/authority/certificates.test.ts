/** What real certificates are made of. */
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { caReader, fingerprintOf } from "../../src/authority/certificate.ts";
import { certificateTools, serviceNames } from "../../src/authority/signing.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00Z");
const DAY_MS = 86_400_000;
const NAMES = serviceNames("lastcall-webhook", "lastcall");
const tools = certificateTools("lastcall CA", { dns: NAMES });
const newCa = (validFromMs?: number) => tools.makeCa({ nowMs: NOW_MS, lifeMs: 365 * DAY_MS, validFromMs });

test("a leaf is signed by its CA for every name of the Service, with P-256 and SHA-256", async () => {
  const signer = await newCa();
  const made = await tools.makeLeaf({ signer, validUntilMs: NOW_MS + 7 * DAY_MS });
  const leaf = new X509Certificate(made.cert);
  const ca = new X509Certificate(signer.cert);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(leaf.checkIssued(ca)).toBe(true);
  expect(NAMES).toEqual([
    "lastcall-webhook.lastcall.svc",
    "lastcall-webhook.lastcall.svc.cluster.local",
    "lastcall-webhook.lastcall",
    "lastcall-webhook",
  ]);
  for (const name of NAMES) expect(leaf.checkHost(name)).toBe(name);
  for (const certificate of [leaf, ca]) {
    expect(certificate.signatureAlgorithm).toBe("ecdsa-with-SHA256");
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
  }
  expect(leaf.checkPrivateKey(createPrivateKey(made.key))).toBe(true);
  expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect([leaf.ca, ca.ca]).toEqual([false, true]);
  expect(made.validUntilMs).toBe(NOW_MS + 7 * DAY_MS);
});

test("every CA has a subject of its own, and every certificate a serial of its own", async () => {
  const cas = await Promise.all([newCa(), newCa(), newCa()]);
  const [signer] = cas;
  const leaves = signer === undefined ? [] : [1, 2, 3].map(() => tools.makeLeaf({ signer, validUntilMs: NOW_MS }));
  const certificates = [...cas, ...(await Promise.all(leaves))].map((made) => new X509Certificate(made.cert));
  expect(new Set(certificates.slice(0, 3).map((ca) => ca.subject)).size).toBe(3);
  expect(new Set(certificates.map((made) => made.serialNumber)).size).toBe(6);
});

test("a CA is valid as early as the one it follows, and a leaf as early as its CA", async () => {
  const first = await newCa();
  const second = await newCa(first.validFromMs - 30 * DAY_MS);
  expect(first.validFromMs).toBe(NOW_MS - 3_600_000);
  expect(second.validFromMs).toBe(first.validFromMs - 30 * DAY_MS);
  const leaf = await tools.makeLeaf({ signer: second, validUntilMs: NOW_MS + DAY_MS });
  expect(leaf.validFromMs).toBe(second.validFromMs);
});

test("only a CA of ours is read as one, and the rest is told apart", async () => {
  const signer = await newCa();
  const other = await newCa();
  const leaf = await tools.makeLeaf({ signer, validUntilMs: NOW_MS });
  const whyOf = (cert: string) => {
    const read = tools.readCa(cert);
    return "why" in read ? read.why : "";
  };
  expect(whyOf(signer.cert)).toBe("");
  expect(whyOf("")).toBe("is missing");
  expect(whyOf("hello")).toContain("not one PEM");
  expect(whyOf(signer.cert + other.cert)).toContain("not one PEM");
  expect(whyOf("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")).toContain("cannot be decoded");
  expect(whyOf(leaf.cert)).toContain("not a CA");
  expect(tools.keyFits(signer, signer.key)).toBe(true);
  expect(tools.keyFits(signer, other.key)).toBe(false);
  expect(tools.keyFits(signer, "garbage")).toBe(false);
});

test("a CA that someone else made is not used to sign", async () => {
  const { makeCaPair } = await import("../../src/authority/signing.ts");
  const foreign = await makeCaPair("Corporate CA", { fromMs: NOW_MS, untilMs: NOW_MS + DAY_MS });
  expect(tools.readCa(foreign.cert)).toMatchObject({ why: expect.stringContaining("Corporate CA") });
});

test("a CA of one program is not read by another", async () => {
  expect(caReader("lastcall relay CA").readCa((await newCa()).cert)).toMatchObject({
    why: expect.stringContaining("not made by lastcall"),
  });
});

test("an id is the DER in base64, and a fingerprint follows from it", async () => {
  const ca = await newCa();
  const der = new X509Certificate(ca.cert).raw;
  expect(ca.id).toBe(der.toString("base64"));
  expect(fingerprintOf(ca)).toBe(createHash("sha256").update(der).digest("hex").slice(0, 16));
});

/** An extension that a verifier may not pass over, as RFC 5280 encodes it in DER: its name, TRUE, its value. */
const critical = (name: string, value: string) => `0603${name}0101ff${value}`;
const [BASIC_CONSTRAINTS, KEY_USAGE] = ["551d13", "551d0f"];

test("what a CA and a leaf may be used for binds every verifier", async () => {
  const signer = await newCa();
  const leaf = await tools.makeLeaf({ signer, validUntilMs: NOW_MS });
  const bytesOf = (cert: string) => new X509Certificate(cert).raw.toString("hex");
  // A CA of servers only, with no CA below it, that signs certificates and revocations.
  expect(bytesOf(signer.cert)).toContain(critical(BASIC_CONSTRAINTS, "040830060101ff020100"));
  expect(bytesOf(signer.cert)).toContain(critical(KEY_USAGE, "040403020106"));
  expect(bytesOf(leaf.cert)).toContain(critical(BASIC_CONSTRAINTS, "04023000"));
  expect(bytesOf(leaf.cert)).toContain(critical(KEY_USAGE, "040403020780"));
});

test.for([
  { says: "of 64 characters", names: ["a".repeat(64)], subject: `CN=${"a".repeat(64)}` },
  { says: "that fits, behind one that does not", names: ["a".repeat(65), "b"], subject: "CN=b" },
  { says: "of ours, where none fits", names: ["a".repeat(65)], subject: "CN=lastcall" },
])("the subject of a leaf is the first name $says", async ({ names, subject }) => {
  const signer = await newCa();
  const leaf = new X509Certificate(
    (await certificateTools("lastcall CA", { dns: names }).makeLeaf({ signer, validUntilMs: NOW_MS })).cert,
  );
  expect(leaf.subject).toBe(subject);
  expect(leaf.subjectAltName).toBe(names.map((name) => `DNS:${name}`).join(", "));
});
