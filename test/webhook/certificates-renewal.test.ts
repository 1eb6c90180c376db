/** Tests the periodic renewal of the certificate: the log lines and the certificates that the server gets. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { ServerCertificate } from "../../src/authority/certificate.ts";
import { Fault } from "../../src/fault.ts";
import type { CertificateSource, RefreshResult } from "../../src/webhook/certificates/source.ts";
import { certificateRenewer, certificateSource } from "../../src/webhook/certificates/source.ts";
import { createLog } from "../../src/webhook/log.ts";

const DAY_MS = 86_400_000;
const FIRST: ServerCertificate = { cert: "first", key: "k", validFromMs: 0, validUntilMs: 8 * DAY_MS };

function createRenewal(refresh: () => Promise<RefreshResult>) {
  const sink = new PassThrough();
  let text = "";
  sink.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const installedCertificates: string[] = [];
  const source: CertificateSource = { current: () => FIRST, unreadyReason: () => "", refresh };
  const renew = certificateRenewer({
    source,
    useCertificate: ({ cert }) => installedCertificates.push(cert),
    log: createLog("info", sink),
  });
  return { renew, installedCertificates, lines: () => text.split("\n").filter((line) => line !== "") };
}

const unusableResult = (why: string): RefreshResult => ({
  kind: "unusable",
  fault: new Fault("ERR_AUTHORITY_UNREACHABLE", why),
});

test("a renewal passes only a changed certificate to the TLS server", async () => {
  const results: RefreshResult[] = [{ kind: "same" }, { kind: "changed" }];
  const { renew, installedCertificates } = createRenewal(async () => results.shift() ?? { kind: "same" });
  for (let count = 0; count < 3; count += 1) await renew(0);
  expect(installedCertificates).toEqual(["first"]);
});

test("a failed renewal is logged as a warning, and as an error if the certificate expires soon", async () => {
  const { renew, lines } = createRenewal(async () => unusableResult("away"));
  await renew(0);
  await renew(7 * DAY_MS);
  expect(lines().map((line) => JSON.parse(line).level)).toEqual([40, 50]);
});

test("a failed renewal is logged with the reason and the certificate's expiry, and so is the recovery", async () => {
  const results: RefreshResult[] = [
    unusableResult("away"),
    { kind: "same" },
    unusableResult("away"),
    { kind: "changed" },
  ];
  const { renew, lines } = createRenewal(async () => results.shift() ?? unusableResult("away"));
  for (let second = 0; second < 4; second += 1) await renew(second);
  await renew(6 * DAY_MS);
  await renew(6 * DAY_MS + 600_001);
  const validUntil = "1970-01-09T00:00:00.000Z";
  const failure = {
    level: 40,
    why: expect.stringMatching(/: away$/),
    validUntil,
    msg: "the certificate cannot be renewed; the current certificate stays in use",
  };
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([
    failure,
    // The same failure is logged again, because a success preceded it.
    failure,
    { level: 30, validUntil, msg: "certificate renewed" },
    failure,
    { ...failure, level: 50, msg: "the certificate expires soon and cannot be renewed" },
  ]);
});

test("renewals never overlap, and a renewal that throws does not prevent the next", async () => {
  let callCount = 0;
  let finish: (result: RefreshResult) => void = () => undefined;
  const { renew, lines } = createRenewal(() => {
    callCount += 1;
    if (callCount === 2) return Promise.reject(new Error("a mistake of ours"));
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  const first = renew(0);
  await renew(0);
  expect(callCount).toBe(1);
  finish({ kind: "same" });
  await first;
  await renew(0);
  expect(lines()[0]).toContain("a mistake of ours");
  expect(lines()[0]).toContain("renewing the certificate failed");
  void renew(0);
  expect(callCount).toBe(3);
  finish({ kind: "same" });
});

test("the readiness probe fails and reports a missing certificate, an API error, a CA that is not in a caBundle, or an expiry", async () => {
  let leaf: ServerCertificate | undefined;
  let distrustReason: string | undefined;
  let update: () => Promise<void> = () => Promise.reject(new Error("403 no"));
  const source = certificateSource({
    current: () => leaf,
    placeholder: FIRST,
    update: () => update(),
    distrustReason: () => distrustReason,
  });
  expect(source.unreadyReason(0)).toBe("the webhook configuration has not been read yet");
  expect(source.current()).toBe(FIRST);
  expect(await source.refresh(0)).toMatchObject({ kind: "unusable", fault: { code: "ERR_AUTHORITY_UNREACHABLE" } });
  expect(source.unreadyReason(0)).toBe("403 no");
  update = async () => {
    distrustReason = "settling";
  };
  expect(await source.refresh(0)).toEqual({ kind: "same" });
  expect(source.unreadyReason(0)).toBe("settling");
  update = async () => {
    leaf = { ...FIRST, cert: "leaf" };
    distrustReason = "";
  };
  expect(await source.refresh(0)).toEqual({ kind: "changed" });
  expect(source.unreadyReason(0)).toBe("");
  update = () => Promise.reject(new Error("away"));
  await source.refresh(0);
  expect(source.unreadyReason(0)).toBe("");
  expect(source.unreadyReason(8 * DAY_MS)).toBe("the certificate has expired");
});
