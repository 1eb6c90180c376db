/** Tests the content of generated certificates. */
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { createCaReader, fingerprintOf } from "../../src/authority/certificate.ts";
import { createCertificateTools, serviceNames } from "../../src/authority/signing.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00Z");
const DAY_MS = 86_400_000;
const NAMES = serviceNames("lastcall-webhook", "lastcall");
const tools = createCertificateTools("lastcall CA", { dns: NAMES });
const createCa = (validFromMs?: number) => tools.makeCa({ nowMs: NOW_MS, lifeMs: 365 * DAY_MS, validFromMs });

test("a leaf certificate is signed by its CA for all names of the Service, with P-256 and SHA-256", async () => {
  const signer = await createCa();
  const pair = await tools.makeLeaf({ signer, validUntilMs: NOW_MS + 7 * DAY_MS });
  const leaf = new X509Certificate(pair.cert);
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
  expect(leaf.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
  expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect([leaf.ca, ca.ca]).toEqual([false, true]);
  expect(pair.validUntilMs).toBe(NOW_MS + 7 * DAY_MS);
});

test("each CA has a unique subject, and each certificate a unique serial number", async () => {
  const cas = await Promise.all([createCa(), createCa(), createCa()]);
  const [signer] = cas;
  const leaves = signer === undefined ? [] : [1, 2, 3].map(() => tools.makeLeaf({ signer, validUntilMs: NOW_MS }));
  const certificates = [...cas, ...(await Promise.all(leaves))].map((pair) => new X509Certificate(pair.cert));
  expect(new Set(certificates.slice(0, 3).map((ca) => ca.subject)).size).toBe(3);
  expect(new Set(certificates.map((made) => made.serialNumber)).size).toBe(6);
});

test("the validity of a CA starts with its predecessor's validity, and the validity of a leaf with its CA's validity", async () => {
  const first = await createCa();
  const second = await createCa(first.validFromMs - 30 * DAY_MS);
  expect(first.validFromMs).toBe(NOW_MS - 3_600_000);
  expect(second.validFromMs).toBe(first.validFromMs - 30 * DAY_MS);
  const leaf = await tools.makeLeaf({ signer: second, validUntilMs: NOW_MS + DAY_MS });
  expect(leaf.validFromMs).toBe(second.validFromMs);
});

test("readCa accepts only a CA made by lastcall, and reports the reason otherwise", async () => {
  const signer = await createCa();
  const other = await createCa();
  const leaf = await tools.makeLeaf({ signer, validUntilMs: NOW_MS });
  const reasonFor = (cert: string) => {
    const result = tools.readCa(cert);
    return "defect" in result ? result.defect : "";
  };
  expect(reasonFor(signer.cert)).toBe("");
  expect(reasonFor("")).toBe("is missing");
  expect(reasonFor("hello")).toContain("not one PEM");
  expect(reasonFor(signer.cert + other.cert)).toContain("not one PEM");
  expect(reasonFor("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")).toContain("cannot be decoded");
  expect(reasonFor(leaf.cert)).toContain("not a CA");
  expect(tools.isKeyOf(signer, signer.key)).toBe(true);
  expect(tools.isKeyOf(signer, other.key)).toBe(false);
  expect(tools.isKeyOf(signer, "garbage")).toBe(false);
});

test("a CA that was not made by lastcall is rejected", async () => {
  const { makeCaPair } = await import("../../src/authority/signing.ts");
  const foreignCa = await makeCaPair("Corporate CA", { fromMs: NOW_MS, untilMs: NOW_MS + DAY_MS });
  expect(tools.readCa(foreignCa.cert)).toMatchObject({ defect: expect.stringContaining("Corporate CA") });
});

test("a CA of lastcall with another purpose is rejected", async () => {
  expect(createCaReader("lastcall relay CA").readCa((await createCa()).cert)).toMatchObject({
    defect: expect.stringContaining("not made by lastcall"),
  });
});

test("the id of a CA is its DER in base64, and its fingerprint is a truncated SHA-256", async () => {
  const ca = await createCa();
  const der = new X509Certificate(ca.cert).raw;
  expect(ca.id).toBe(der.toString("base64"));
  expect(fingerprintOf(ca)).toBe(createHash("sha256").update(der).digest("hex").slice(0, 16));
});

/** A critical extension in DER (RFC 5280, 4.1): object identifier, TRUE, value. */
const criticalExtension = (name: string, value: string) => `0603${name}0101ff${value}`;
const [BASIC_CONSTRAINTS, KEY_USAGE] = ["551d13", "551d0f"];

test("basic constraints and key usage are critical extensions of every certificate", async () => {
  const signer = await createCa();
  const leaf = await tools.makeLeaf({ signer, validUntilMs: NOW_MS });
  const hexOf = (cert: string) => new X509Certificate(cert).raw.toString("hex");
  // Path length 0; keyCertSign and cRLSign.
  expect(hexOf(signer.cert)).toContain(criticalExtension(BASIC_CONSTRAINTS, "040830060101ff020100"));
  expect(hexOf(signer.cert)).toContain(criticalExtension(KEY_USAGE, "040403020106"));
  expect(hexOf(leaf.cert)).toContain(criticalExtension(BASIC_CONSTRAINTS, "04023000"));
  expect(hexOf(leaf.cert)).toContain(criticalExtension(KEY_USAGE, "040403020780"));
});

test.for([
  { title: "its only name if that name has 64 characters", names: ["a".repeat(64)], subject: `CN=${"a".repeat(64)}` },
  { title: "its second name if the first name has 65 characters", names: ["a".repeat(65), "b"], subject: "CN=b" },
  { title: "lastcall if every name has more than 64 characters", names: ["a".repeat(65)], subject: "CN=lastcall" },
])("the subject of a leaf certificate is $title", async ({ names, subject }) => {
  const signer = await createCa();
  const leaf = new X509Certificate(
    (await createCertificateTools("lastcall CA", { dns: names }).makeLeaf({ signer, validUntilMs: NOW_MS })).cert,
  );
  expect(leaf.subject).toBe(subject);
  expect(leaf.subjectAltName).toBe(names.map((name) => `DNS:${name}`).join(", "));
});
