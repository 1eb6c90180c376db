/** Tests the log lines and metrics about the webhook's CAs. */
import { PassThrough } from "node:stream";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { addAuthorityGauges, addExpiryGauge, eventRecorder } from "../../../src/webhook/certificates/event-recorder.ts";
import type { AuthorityEvent, AuthorityStatus } from "../../../src/webhook/certificates/reconciler.ts";
import { createLog } from "../../../src/webhook/log.ts";
import { samplesOf } from "../server-under-test.ts";
import { createFakeCa } from "./fake-certificates.ts";

async function recordEvents(...events: readonly AuthorityEvent[]) {
  const sink = new PassThrough();
  const registry = new Registry();
  const record = eventRecorder(createLog("debug", sink), registry);
  for (const event of events) record(event);
  const lineTexts = (sink.read() as Buffer | null)?.toString().trim().split("\n") ?? [];
  const lines = lineTexts.map((line): unknown => {
    const { time: _time, ...rest } = JSON.parse(line);
    return rest;
  });
  const metrics = await registry.metrics();
  return { lines, metrics, patches: Object.fromEntries(samplesOf(metrics, "lastcall_cabundle_patches_total")) };
}

const [DEBUG, INFO, WARN] = [20, 30, 40];
const NO_PATCH = { '{result="done"}': 0, '{result="conflict"}': 0 };

test.for([
  ["begin", "created the webhook's CA"],
  ["repair", "repaired the Secret of --ca-secret"],
  ["rotate", "created the webhook's next CA"],
  ["promote", "promoted the next CA to signer of the webhook's certificates"],
  ["drop", "removed a retired CA whose certificates have expired"],
] as const)("a write of the Secret with the reason `%s` is logged as: %s", async ([reason, msg]) => {
  const { lines, patches } = await recordEvents({ kind: "secret-written", reason });
  expect(lines).toEqual([{ level: INFO, reason, msg }]);
  expect(patches).toEqual(NO_PATCH);
});

test("a damaged Secret is logged as a warning with every invalid entry", async () => {
  const { lines, patches } = await recordEvents({ kind: "secret-errors", errors: ["ca.key is missing"] });
  expect(lines).toEqual([
    { level: WARN, errors: ["ca.key is missing"], msg: "the Secret of --ca-secret has invalid entries" },
  ]);
  expect(patches).toEqual(NO_PATCH);
});

test("each write of a caBundle is counted, and logged with the number of CAs", async () => {
  const { lines, patches } = await recordEvents({ kind: "bundle-written", cas: 3 });
  expect(lines).toEqual([{ level: INFO, cas: 3, msg: "caBundle written" }]);
  expect(patches).toEqual({ ...NO_PATCH, '{result="done"}': 1 });
});

test("a write conflict is logged at level debug, and is counted only if it concerns a caBundle", async () => {
  const { lines, patches, metrics } = await recordEvents(
    { kind: "conflict", on: "configuration" },
    { kind: "conflict", on: "Secret" },
  );
  const msg = "write conflict, retrying";
  expect(lines).toEqual([
    { level: DEBUG, on: "configuration", msg },
    { level: DEBUG, on: "Secret", msg },
  ]);
  expect(patches).toEqual({ ...NO_PATCH, '{result="conflict"}': 1 });
  expect(metrics).toContain(
    "Writes of the webhook configuration's caBundle by this replica, by result; conflict: another client wrote the configuration first.",
  );
});

test("the expiry metric is in seconds, and is absent without a certificate", async () => {
  const registry = new Registry();
  let expiry: { leafMs: number | undefined; caMs?: number } = { leafMs: undefined };
  addExpiryGauge(registry, () => expiry);
  const readSamples = async () =>
    Object.fromEntries(samplesOf(await registry.metrics(), "lastcall_certificate_not_after_seconds"));
  expect(await readSamples()).toEqual({});
  expiry = { leafMs: 7_000 };
  expect(await readSamples()).toEqual({ '{kind="leaf"}': 7 });
  expiry = { leafMs: 8_000, caMs: 9_500 };
  expect(await readSamples()).toEqual({ '{kind="leaf"}': 8, '{kind="ca"}': 9.5 });
  expect(await registry.metrics()).toContain(
    "Expiry of the webhook's certificate (leaf) and of the CA that signs it (ca), in seconds since 1970.",
  );
});

test("gauges show the expiry of the leaf certificate and of its CA, and whether every caBundle contains that CA", async () => {
  const registry = new Registry();
  let status: AuthorityStatus = { leafValidUntilMs: undefined, signer: undefined, isInSync: false };
  addAuthorityGauges(registry, () => status);
  const read = async () => {
    const metrics = await registry.metrics();
    const expiries = Object.fromEntries(samplesOf(metrics, "lastcall_certificate_not_after_seconds"));
    return { expiries, inSync: samplesOf(metrics, "lastcall_cabundle_in_sync").get("") };
  };
  expect(await read()).toEqual({ expiries: {}, inSync: 0 });
  status = { leafValidUntilMs: 5_000, signer: createFakeCa("a", 0, 60_000), isInSync: true };
  expect(await read()).toEqual({ expiries: { '{kind="leaf"}': 5, '{kind="ca"}': 60 }, inSync: 1 });
  expect(await registry.metrics()).toContain(
    "1 while the caBundle of every webhook contains the CA of this replica's certificate.",
  );
});
