/** Tests certificate files that another program renews, mounted as the kubelet mounts a Secret, and the caBundles for them. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parsePemBlocks } from "../../src/authority/certificate.ts";
import { type Issuer, makeCaPair, makeServerPair } from "../../src/authority/signing.ts";
import type { Moment } from "../../src/webhook/certificates/authority.ts";
import { readExternalPair } from "../../src/webhook/certificates/external-files.ts";
import { externalSource, FOREIGN_CA_TTL_MS } from "../../src/webhook/certificates/external-source.ts";
import type { AuthorityEvent } from "../../src/webhook/certificates/reconciler.ts";
import type { CertificateSource } from "../../src/webhook/certificates/source.ts";
import { type ApiStore, createApiStore } from "./certificates-authority/api-store.ts";

const START_MS = Date.parse("2026-06-01T12:00:00Z");
const DAY_MS = 86_400_000;
const SETTLE_MS = 60_000;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

type Files = { readonly cert: string; readonly key: string; readonly ca: string };

async function createCa(name: string): Promise<Issuer> {
  return makeCaPair(name, { fromMs: START_MS, untilMs: START_MS + 300 * DAY_MS });
}

async function createFiles(ca: Issuer, days = 90): Promise<Files> {
  const pair = await makeServerPair(ca, { dns: ["a"] }, { fromMs: START_MS, untilMs: START_MS + days * DAY_MS });
  return { cert: pair.cert, key: pair.key, ca: ca.cert };
}

/** Mounts files as the kubelet does: a folder per version, the symlink `..data` to the current folder, and links to its files. */
function createMount(): { readonly folder: string; readonly swap: (files: Files) => void } {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-external-"));
  folders.push(folder);
  let version = 0;
  const swap = (files: Files): void => {
    version += 1;
    mkdirSync(join(folder, `..v${version}`));
    writeFileSync(join(folder, `..v${version}`, "tls.crt"), files.cert);
    writeFileSync(join(folder, `..v${version}`, "tls.key"), files.key);
    writeFileSync(join(folder, `..v${version}`, "ca.crt"), files.ca);
    symlinkSync(`..v${version}`, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    if (version > 1) return;
    for (const name of ["tls.crt", "tls.key", "ca.crt"]) symlinkSync(join("..data", name), join(folder, name));
  };
  return { folder, swap };
}

type Clock = { nowMs: number };

function sourceOf(
  folder: string,
  store: ApiStore,
  clock: Clock,
  recordEvent: (event: AuthorityEvent) => void = () => undefined,
): Promise<CertificateSource> {
  return externalSource({
    read: () => readExternalPair(join(folder, "tls.crt"), join(folder, "tls.key")),
    configurations: {
      displayName: "MutatingWebhookConfiguration w",
      read: async () => store.configuration(),
      writeBundle: async (current, bundle) => store.writeBundle(current, bundle),
    },
    now: (): Moment => ({ wallMs: clock.nowMs, monotonicMs: clock.nowMs }),
    settleMs: SETTLE_MS,
    recordEvent,
  });
}

function bundleSizesOf(store: ApiStore): readonly number[] {
  return (store.configuration()?.bundles ?? []).map((bundle) => parsePemBlocks(bundle).blocks.length);
}

async function startReplicas(replicaCount = 1) {
  const ca = await createCa("first CA");
  const clock: Clock = { nowMs: START_MS + DAY_MS };
  const store = createApiStore(() => clock.nowMs, 2);
  const mounts = Array.from({ length: replicaCount }, createMount);
  const files = await createFiles(ca);
  for (const { swap } of mounts) swap(files);
  const sources = await Promise.all(mounts.map(({ folder }) => sourceOf(folder, store, clock)));
  for (const source of sources) await source.refresh(clock.nowMs);
  return { ca, clock, store, mounts, sources, files };
}

test("a replica fills empty caBundles from the ca.crt in the certificate's folder, and is ready afterwards", async () => {
  const { ca, clock, store, sources } = await startReplicas();
  expect(store.configuration()?.bundles).toEqual([ca.cert, ca.cert].map((text) => `${text.trim()}\n`));
  expect(sources[0]?.unreadyReason(clock.nowMs)).toBe("");
  store.setBundles(["", ca.cert]);
  await sources[0]?.refresh(clock.nowMs);
  expect(bundleSizesOf(store)).toEqual([1, 1]);
});

test("a new certificate of the same CA is served after the next read of the files", async () => {
  const { ca, clock, mounts, sources } = await startReplicas();
  const nextFiles = await createFiles(ca, 120);
  mounts[0]?.swap(nextFiles);
  expect(await sources[0]?.refresh(clock.nowMs)).toEqual({ kind: "changed" });
  expect(sources[0]?.current().cert).toBe(nextFiles.cert);
});

test("a certificate of a new CA is served after every caBundle has contained that CA for the duration of --ca-settle", async () => {
  const { clock, store, mounts, sources, files } = await startReplicas();
  const next = await createFiles(await createCa("second CA"));
  mounts[0]?.swap(next);
  await sources[0]?.refresh(clock.nowMs);
  expect(bundleSizesOf(store)).toEqual([2, 2]);
  expect(sources[0]?.current().cert).toBe(files.cert);
  clock.nowMs += SETTLE_MS - 1;
  await sources[0]?.refresh(clock.nowMs);
  expect(sources[0]?.current().cert).toBe(files.cert);
  clock.nowMs += 1;
  expect(await sources[0]?.refresh(clock.nowMs)).toEqual({ kind: "changed" });
  expect(sources[0]?.current().cert).toBe(next.cert);
});

test("a certificate of a new CA is not served while the caBundles contain only the old CA", async () => {
  const { ca, clock, store, mounts, files } = await startReplicas();
  let isRefusing = true;
  const writeBundle: ApiStore["writeBundle"] = (current, bundle) => {
    if (isRefusing) throw new Error("the API server does not let us change it");
    return store.writeBundle(current, bundle);
  };
  const source = await sourceOf(mounts[0]?.folder ?? "", { ...store, writeBundle }, clock);
  const next = await createFiles(await createCa("second CA"));
  mounts[0]?.swap({ ...next, ca: ca.cert + next.ca });
  for (let refresh = 0; refresh < 3; refresh += 1) {
    expect(await source.refresh(clock.nowMs)).toMatchObject({ kind: "unusable" });
    expect(source.current().cert).toBe(files.cert);
    clock.nowMs += SETTLE_MS;
  }
  isRefusing = false;
  await source.refresh(clock.nowMs);
  clock.nowMs += SETTLE_MS;
  expect(await source.refresh(clock.nowMs)).toEqual({ kind: "changed" });
  expect(source.unreadyReason(clock.nowMs)).toBe("");
  isRefusing = true;
  store.setBundles([ca.cert, ca.cert]);
  await source.refresh(clock.nowMs);
  expect(source.unreadyReason(clock.nowMs)).toContain("a caBundle without the CA");
});

test("replicas whose certificate files change minutes apart do not remove each other's CA, and remove the old CA later", async () => {
  const { clock, store, mounts, sources } = await startReplicas(2);
  const next = await createFiles(await createCa("second CA"));
  const [early, late] = sources;
  mounts[0]?.swap(next);
  for (let minute = 0; minute < 5; minute += 1) {
    for (const source of [early, late]) await source?.refresh(clock.nowMs);
    expect(bundleSizesOf(store)).toEqual([2, 2]);
    clock.nowMs += 60_000;
  }
  mounts[1]?.swap(next);
  expect(store.writeCount()).toBe(2);
  for (let minute = 0; minute < 40; minute += 1) {
    for (const source of [early, late]) await source?.refresh(clock.nowMs);
    clock.nowMs += 60_000;
  }
  expect(store.configuration()?.bundles.map((bundle) => bundle.trim())).toEqual([next.ca.trim(), next.ca.trim()]);
  expect(store.writeCount()).toBe(3);
  expect([early?.current().cert, late?.current().cert]).toEqual([next.cert, next.cert]);
});

test("an unknown CA is removed from a caBundle after 15 minutes, and invalid text immediately", async () => {
  const { ca, clock, store, sources } = await startReplicas();
  const foreignCertificate = (await createCa("foreign CA")).cert;
  store.setBundles([ca.cert + foreignCertificate, `garbage\n${ca.cert}`]);
  await sources[0]?.refresh(clock.nowMs);
  expect(bundleSizesOf(store)).toEqual([2, 2]);
  expect(store.configuration()?.bundles[1]).not.toContain("garbage");
  clock.nowMs += FOREIGN_CA_TTL_MS;
  await sources[0]?.refresh(clock.nowMs);
  expect(bundleSizesOf(store)).toEqual([1, 1]);
});

test("a certificate, key and CA that do not match are reported with a path, and the served certificate does not change", async () => {
  const { clock, mounts, sources, files } = await startReplicas();
  const otherFiles = await createFiles(await createCa("other CA"));
  for (const invalidFiles of [
    { ...files, cert: otherFiles.cert },
    { ...files, key: otherFiles.key },
    { ...files, ca: otherFiles.ca },
    { ...files, cert: "" },
    { ...files, ca: "" },
  ]) {
    mounts[0]?.swap(invalidFiles);
    expect(await sources[0]?.refresh(clock.nowMs)).toMatchObject({
      kind: "unusable",
      fault: { code: "ERR_CERTIFICATE_UNREADABLE", message: expect.stringContaining("tls.crt") },
    });
    expect(sources[0]?.current().cert).toBe(files.cert);
  }
  mounts[0]?.swap(files);
  expect(await sources[0]?.refresh(clock.nowMs)).toEqual({ kind: "same" });
});

test("an expired certificate is replaced immediately, even by a certificate of an untrusted CA", async () => {
  const { clock, mounts, sources } = await startReplicas();
  const next = await createFiles(await createCa("second CA"), 200);
  clock.nowMs = START_MS + 91 * DAY_MS;
  mounts[0]?.swap(next);
  expect(await sources[0]?.refresh(clock.nowMs)).toEqual({ kind: "changed" });
});

test("a missing webhook configuration is reported until it exists and its caBundle contains the certificate's CA", async () => {
  const clock: Clock = { nowMs: START_MS + DAY_MS };
  const store = createApiStore(() => clock.nowMs, 1);
  store.setBundles(undefined);
  const { folder, swap } = createMount();
  swap(await createFiles(await createCa("first CA")));
  const source = await sourceOf(folder, store, clock);
  expect(await source.refresh(clock.nowMs)).toMatchObject({ kind: "unusable" });
  expect(source.unreadyReason(clock.nowMs)).toContain("MutatingWebhookConfiguration w does not exist");
  store.setBundles([""]);
  await source.refresh(clock.nowMs);
  expect(source.unreadyReason(clock.nowMs)).toBe("");
});

test("a certificate folder without ca.crt is an error at startup", async () => {
  const { folder, swap } = createMount();
  swap(await createFiles(await createCa("first CA")));
  rmSync(join(folder, "ca.crt"));
  await expect(readExternalPair(join(folder, "tls.crt"), join(folder, "tls.key"))).rejects.toThrow(/ca\.crt/);
  expect(readFileSync(join(folder, "tls.crt"), "utf8")).toContain("BEGIN CERTIFICATE");
});

test("a write of the caBundle is recorded with the number of CAs, and the refresh fails after 16 write conflicts", async () => {
  const { clock, store, mounts } = await startReplicas();
  store.setBundles(["", ""]);
  const events: AuthorityEvent[] = [];
  const folder = mounts[0]?.folder ?? "";
  const source = await sourceOf(folder, store, clock, (event) => events.push(event));
  expect(source.unreadyReason(clock.nowMs)).toBe("the webhook configuration has not been read yet");
  expect(await source.refresh(clock.nowMs)).toEqual({ kind: "same" });
  expect(events).toEqual([{ kind: "bundle-written", cas: 1 }]);
  store.setBundles(["", ""]);
  events.splice(0);
  const conflictingStore: ApiStore = { ...store, writeBundle: () => "conflict" };
  const conflictingSource = await sourceOf(folder, conflictingStore, clock, (event) => events.push(event));
  const result = await conflictingSource.refresh(clock.nowMs);
  expect(result).toMatchObject({ kind: "unusable", fault: { code: "ERR_AUTHORITY_UNREACHABLE" } });
  expect(events).toEqual(Array.from({ length: 16 }, () => ({ kind: "conflict", on: "configuration" })));
});
