import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterAll, expect, test } from "vitest";
import { createSelectedSource } from "../../src/webhook/certificates/choose.ts";
import { certificateFromFiles } from "../../src/webhook/certificates/external-files.ts";
import { makeCertificate } from "../../src/webhook/certificates/self-made.ts";
import { validityError } from "../../src/webhook/certificates/source.ts";
import { readSettings } from "../../src/webhook/config.ts";
import { createLog } from "../../src/webhook/log.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00Z");
const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "lastcall-certificates-"));
afterAll(() => rmSync(folder, { recursive: true }));

function writeTestFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("a certificate made in memory is signed by its CA for every DNS name of the Service", async () => {
  const { source, caCertificate } = await makeCertificate("lastcall", NOW_MS);
  const leaf = new X509Certificate(source.current().cert);
  const ca = new X509Certificate(caCertificate);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(ca.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.checkHost("localhost")).toBe("localhost");
  expect(leaf.checkHost("lastcall.lastcall.svc")).toBeDefined();
  expect(leaf.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(leaf.checkIP("::1")).toBe("::1");
  expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
  expect(leaf.toLegacyObject().bits).toBe(256);
  expect(leaf.signatureAlgorithm).toBe("ecdsa-with-SHA256");
});

test("the CA file that the webhook writes does not contain a private key", async () => {
  expect((await makeCertificate("lastcall", NOW_MS)).caCertificate).not.toContain("PRIVATE");
});

test("a certificate made in memory is renewed under the same CA before it expires", async () => {
  const { source, caCertificate } = await makeCertificate("lastcall", NOW_MS);
  const first = source.current();
  expect((await source.refresh(NOW_MS + 59 * DAY_MS)).kind).toBe("same");
  expect((await source.refresh(NOW_MS + 61 * DAY_MS)).kind).toBe("changed");
  const second = source.current();
  expect(second.validUntilMs).toBeGreaterThan(first.validUntilMs);
  expect(new X509Certificate(second.cert).verify(new X509Certificate(caCertificate).publicKey)).toBe(true);
});

test("the metrics show the expiry of a certificate from files", async () => {
  const { cert, key, validUntilMs } = (await makeCertificate("lastcall", NOW_MS)).source.current();
  const args = [`--cert=${writeTestFile("expiring.crt", cert)}`, `--key=${writeTestFile("expiring.key", key)}`];
  const registry = new Registry();
  const clocks = { wallMs: () => NOW_MS, monotonicMs: () => 0 };
  await createSelectedSource(readSettings(args, {}).settings, {
    log: createLog("silent", { write: () => undefined }),
    registry,
    ...clocks,
  });
  const metrics = await registry.metrics();
  expect(metrics).toContain(`lastcall_certificate_not_after_seconds{kind="leaf"} ${validUntilMs / 1_000}\n`);
});

test("a certificate is rejected before and after its validity, and accepted within it", async () => {
  const certificate = (await makeCertificate("lastcall", NOW_MS)).source.current();
  expect(validityError(certificate, NOW_MS)).toBe("");
  expect(validityError(certificate, NOW_MS - DAY_MS)).toContain("not valid yet");
  expect(validityError(certificate, NOW_MS + 91 * DAY_MS)).toContain("expired");
});

test("a chain with an invalid second certificate is rejected, and the old certificate is still served", async () => {
  const [one, two] = [await makeCertificate("a", NOW_MS), await makeCertificate("b", NOW_MS)].map((made) =>
    made.source.current(),
  );
  const source = await certificateFromFiles(
    writeTestFile("chain.crt", one?.cert ?? ""),
    writeTestFile("chain.key", one?.key ?? ""),
  );
  writeTestFile("chain.crt", `${two?.cert}\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`);
  writeTestFile("chain.key", two?.key ?? "");
  for (let refresh = 0; refresh < 2; refresh += 1) {
    expect(await source.refresh(NOW_MS)).toMatchObject({ fault: { code: "ERR_CERTIFICATE_UNREADABLE" } });
    expect(source.current().cert).toBe(one?.cert);
  }
});

test("a new certificate and its key are served only after both files have changed", async () => {
  const [one, two] = [await makeCertificate("a", NOW_MS), await makeCertificate("b", NOW_MS)].map((made) =>
    made.source.current(),
  );
  const cert = writeTestFile("tls.crt", one?.cert ?? "");
  const key = writeTestFile("tls.key", one?.key ?? "");
  const source = await certificateFromFiles(cert, key);
  expect((await source.refresh(NOW_MS)).kind).toBe("same");
  writeTestFile("tls.crt", two?.cert ?? "");
  expect((await source.refresh(NOW_MS)).kind).toBe("unusable");
  expect(source.current().cert).toBe(one?.cert);
  writeTestFile("tls.key", two?.key ?? "");
  expect((await source.refresh(NOW_MS)).kind).toBe("changed");
  expect(source.current()).toMatchObject({ cert: two?.cert, key: two?.key });
});

test("missing files and files that are not certificates are reported with their paths", async () => {
  const textFile = writeTestFile("text.pem", "hello");
  await expect(certificateFromFiles(join(folder, "none.crt"), textFile)).rejects.toThrow(/none\.crt/);
  await expect(certificateFromFiles(textFile, textFile)).rejects.toMatchObject({ code: "ERR_CERTIFICATE_UNREADABLE" });
});
