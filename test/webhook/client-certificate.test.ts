/** Tests that with `--client-ca`, only clients with a certificate of that CA can send reviews. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { type CertificatePair, makeClientCertificate } from "../../bench/client-pair.ts";
import { makeCaPair } from "../../src/authority/signing.ts";
import { reviewText } from "./pod-review.ts";
import { type RunningWebhook, spawnWebhook, startWebhook } from "./running-webhook.ts";

const TIMEOUT = { timeout: 180_000 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const HOUR_MS = 3_600_000;

function createCa(name: string): Promise<CertificatePair> {
  return makeCaPair(name, { fromMs: Date.now() - HOUR_MS, untilMs: Date.now() + HOUR_MS });
}

function writeCaFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-client-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "client-ca.crt");
  writeFileSync(file, text);
  return file;
}

type ClientRequest = {
  readonly path: string;
  readonly method: string;
  readonly client?: CertificatePair;
  readonly agent?: Agent;
};
type ClientResponse = { readonly status: number; readonly isResumed: boolean };

function send(webhook: RunningWebhook, { path, method, client, agent }: ClientRequest): Promise<ClientResponse> {
  const serverOptions = { host: "127.0.0.1", port: webhook.port, ca: webhook.ca, servername: "localhost" };
  const headers = { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      { ...serverOptions, path, method, headers, agent: agent ?? false, ...client },
      (reply) => {
        const isResumed = reply.socket instanceof TLSSocket && reply.socket.isSessionReused();
        reply.resume();
        reply.once("close", () => resolve({ status: reply.statusCode ?? 0, isResumed }));
      },
    );
    clientRequest.once("error", reject);
    clientRequest.end(method === "POST" ? reviewText() : undefined);
  });
}

const REVIEW = { path: "/mutate", method: "POST" };

async function startWithClientCa(): Promise<{ readonly webhook: RunningWebhook; readonly ca: CertificatePair }> {
  const ca = await createCa("ours");
  const webhook = await startWebhook([`--client-ca=${writeCaFile(ca.cert)}`, "--opt-in=all"]);
  cleanups.push(webhook.destroy);
  return { webhook, ca };
}

test("with --client-ca, reviews require a client certificate of that CA, and probes do not", TIMEOUT, async () => {
  const { webhook, ca } = await startWithClientCa();
  expect(await send(webhook, { ...REVIEW, client: await makeClientCertificate(ca) })).toMatchObject({ status: 200 });
  expect(await send(webhook, REVIEW)).toMatchObject({ status: 403 });
  const otherClient = await makeClientCertificate(await createCa("other"));
  expect(await send(webhook, { ...REVIEW, client: otherClient })).toMatchObject({ status: 403 });
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    expect(await send(webhook, { path, method: "GET" })).toMatchObject({ status: 200 });
  }
});

test("a resumed TLS session without a client certificate cannot send reviews", TIMEOUT, async () => {
  const { webhook } = await startWithClientCa();
  const agent = new Agent({ maxCachedSessions: 10 });
  expect(await send(webhook, { ...REVIEW, agent })).toEqual({ status: 403, isResumed: false });
  expect(await send(webhook, { ...REVIEW, agent })).toEqual({ status: 403, isResumed: true });
});

test("a client CA file without a certificate is reported at startup", TIMEOUT, async () => {
  const ca = await createCa("ours");
  for (const text of ["nothing", (await makeClientCertificate(ca)).cert]) {
    const end = await spawnWebhook(["--port=0", "--host=127.0.0.1", `--client-ca=${writeCaFile(text)}`]).ended;
    expect(end.status).toBe(1);
    expect(end.output).toMatch(
      /^lastcall webhook: .*--client-ca .*: (does not contain a certificate|contains a certificate that is not a CA)\n$/,
    );
  }
});
