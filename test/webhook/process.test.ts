import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Agent } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificate } from "../../src/webhook/certificates/self-made.ts";
import { eventually } from "../time/eventually.ts";
import { reviewText } from "./pod-review.ts";
import {
  createKeepAliveAgent,
  type RunningWebhook,
  sendRequest,
  spawnWebhook,
  startWebhook,
} from "./running-webhook.ts";
import { samplesOf, sumOf } from "./server-under-test.ts";

const TIMEOUT = { timeout: 180_000 };
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function startForTest(args: readonly string[] = [], ca?: string): Promise<RunningWebhook> {
  const starting = startWebhook(args, ca);
  // Also destroys a program that starts after its test has timed out.
  cleanups.push(() => starting.then((webhook) => webhook.destroy()).catch(() => undefined));
  return starting;
}

function createTemporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "lastcall-process-"));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test(
  "the webhook admits Pods over HTTPS with a certificate of the CA that it wrote to a file, and counts each request once",
  TIMEOUT,
  async () => {
    const webhook = await startForTest(["--opt-in", "all"]);
    const agent = createKeepAliveAgent(4);
    cleanups.push(() => agent.destroy());
    const bodies = [reviewText(), reviewText({ dryRun: true }), reviewText(), "", "{", "[]"];
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        sendRequest(webhook, { path: "/mutate", body: bodies[index % bodies.length] ?? "", agent }),
      ),
    );
    const first = JSON.parse(replies[0]?.body ?? "");
    expect(first).toMatchObject({ kind: "AdmissionReview", response: { allowed: true, patchType: "JSONPatch" } });
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(30);
    expect(replies.filter((reply) => reply.status === 400)).toHaveLength(30);
    const metrics = (await sendRequest(webhook, { path: "/metrics" })).body;
    expect(sumOf(samplesOf(metrics, "lastcall_admissions_total"))).toBe(60);
    expect(sumOf(samplesOf(metrics, "lastcall_admission_duration_seconds_count"))).toBe(60);
    await eventually(() => expect(webhook.output().match(/"admission answered"/g)).toHaveLength(60));
  },
);

test("a review of 8 MiB over TCP gets status 413 while the client is still sending", TIMEOUT, async () => {
  const webhook = await startForTest();
  const reply = await sendRequest(webhook, { path: "/mutate", body: "x".repeat(8 * 1024 * 1024) });
  expect(reply.status).toBe(413);
  expect(reply.body).toContain("7340032");
});

test("a client that disconnects during its review is counted and does not affect other requests", TIMEOUT, async () => {
  const webhook = await startForTest();
  const { socket } = await beginBody(webhook, 1_000);
  socket.write("{");
  socket.destroy();
  await eventually(async () =>
    expect((await sendRequest(webhook, { path: "/metrics" })).body).toContain('reason="cut_off"'),
  );
  expect((await sendRequest(webhook, { path: "/mutate", body: reviewText() })).status).toBe(200);
});

test("TLS 1.1 is refused and TLS 1.2 is accepted", TIMEOUT, async () => {
  const webhook = await startForTest();
  const tryHandshake = (maxVersion: "TLSv1.1" | "TLSv1.2") =>
    new Promise<string>((resolve) => {
      const options = { host: "127.0.0.1", port: webhook.port, ca: webhook.ca, servername: "localhost", maxVersion };
      const socket = connectTls({ ...options, minVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }, () => {
        resolve(socket.getProtocol() ?? "none");
        socket.destroy();
      });
      socket.on("error", () => resolve("refused"));
    });
  expect(await tryHandshake("TLSv1.2")).toBe("TLSv1.2");
  expect(await tryHandshake("TLSv1.1")).toBe("refused");
});

/** Sends the headers of a request and waits for `100 Continue`. The caller sends the body. */
async function beginBody(
  webhook: RunningWebhook,
  bytes: number,
): Promise<{ socket: TLSSocket; received: () => string }> {
  const socket = connectTls({ host: "127.0.0.1", port: webhook.port, ca: webhook.ca, servername: "localhost" });
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.write(
    `POST /mutate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\nexpect: 100-continue\r\n\r\n`,
  );
  await eventually(() => expect(text).toContain(CONTINUE));
  return { socket, received: () => text.replace(CONTINUE, "") };
}

type Counts = { succeededCount: number; readonly failures: string[]; isWithdrawn: boolean };

/** Sends requests without retries, as an API server does, until the replica's endpoint is withdrawn. */
async function sendUntilWithdrawn(webhook: RunningWebhook, agent: Agent, counts: Counts): Promise<void> {
  while (!counts.isWithdrawn) {
    const result = await sendRequest(webhook, { path: "/mutate", body: reviewText(), agent }).then(
      (reply) => (reply.status === 200 ? "succeeded" : `status ${reply.status}`),
      (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
    );
    if (result === "succeeded") counts.succeededCount += 1;
    else counts.failures.push(result);
  }
}

describe("after SIGTERM or SIGINT the webhook", () => {
  test("stays ready, responds to every request under load, and exits with status 0", TIMEOUT, async () => {
    const webhook = await startForTest(["--opt-in=all", "--drain-delay=10s"]);
    const agent = createKeepAliveAgent(8);
    cleanups.push(() => agent.destroy());
    const counts: Counts = { succeededCount: 0, failures: [], isWithdrawn: false };
    const clients = Array.from({ length: 8 }, () => sendUntilWithdrawn(webhook, agent, counts));
    await eventually(() => expect(counts.succeededCount).toBeGreaterThan(50));
    webhook.signal("SIGTERM");
    await eventually(() => expect(webhook.output()).toContain("received a stop signal, still serving"));
    const earlierCount = counts.succeededCount;
    await eventually(() => expect(counts.succeededCount - earlierCount).toBeGreaterThan(20));
    const keepAlive = createKeepAliveAgent(1);
    cleanups.push(() => keepAlive.destroy());
    const ready = await sendRequest(webhook, { path: "/readyz", agent: keepAlive });
    counts.isWithdrawn = true;
    expect(ready).toMatchObject({ status: 200, connection: "close" });
    await Promise.all(clients);
    expect(counts.failures).toEqual([]);
    expect(await webhook.ended).toMatchObject({ status: 0 });
    expect(webhook.output()).toMatch(/received a stop signal, still serving[\s\S]*no longer listening[\s\S]*"stopped"/);
  });

  test("completes a review whose body is incomplete when the port closes", TIMEOUT, async () => {
    const webhook = await startForTest(["--drain-delay=500ms"]);
    const body = reviewText();
    const { socket, received } = await beginBody(webhook, Buffer.byteLength(body));
    socket.write(body.slice(0, 10));
    webhook.signal("SIGTERM");
    await eventually(() => expect(webhook.output()).toContain("no longer listening"));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(body.slice(10));
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(received()).toMatch(/\r\nconnection: close\r\n/i);
    expect(await webhook.ended).toMatchObject({ status: 0 });
  });

  test("does not wait for idle keep-alive connections", TIMEOUT, async () => {
    const webhook = await startForTest(["--drain-delay=200ms"]);
    const agent = createKeepAliveAgent(3);
    cleanups.push(() => agent.destroy());
    await sendRequest(webhook, { path: "/healthz", agent });
    webhook.signal("SIGTERM");
    expect(await webhook.ended).toMatchObject({ status: 0 });
    expect(webhook.output()).not.toContain("were cut");
  });

  test("skips the drain delay after SIGINT", TIMEOUT, async () => {
    // The drain delay is longer than the test's time limit, so the webhook must not wait for it.
    const webhook = await startForTest(["--drain-delay=10m"]);
    webhook.signal("SIGINT");
    expect(await webhook.ended).toMatchObject({ status: 0 });
    expect(webhook.output()).toMatch(/"drainDelayMs":0,.*received a stop signal, still serving/);
  });

  test("exits immediately after a second signal, and logs that signal", TIMEOUT, async () => {
    const webhook = await startForTest(["--drain-delay=10m"]);
    webhook.signal("SIGTERM");
    await eventually(() => expect(webhook.output()).toContain("still serving"));
    webhook.signal("SIGTERM");
    const end = await webhook.ended;
    expect(end.status).toBe(3);
    expect(end.output).toContain("second stop signal, exiting now");
  });
});

test(
  "after a change of the certificate files, new connections get the new certificate, and open connections continue",
  TIMEOUT,
  async () => {
    const nowMs = Date.now();
    const [one, two] = [await makeCertificate("lastcall", nowMs), await makeCertificate("lastcall", nowMs)];
    const folder = createTemporaryFolder();
    const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    const write = (pair: typeof one) => {
      writeFileSync(cert, pair.source.current().cert);
      writeFileSync(key, pair.source.current().key);
    };
    write(one);
    const webhook = await startForTest(
      [`--cert=${cert}`, `--key=${key}`, "--certificate-check=100ms"],
      one.caCertificate,
    );
    const agent = createKeepAliveAgent(1);
    cleanups.push(() => agent.destroy());
    expect((await sendRequest(webhook, { path: "/healthz", agent })).status).toBe(200);
    write(two);
    const renewedWebhook = { ...webhook, ca: two.caCertificate };
    await eventually(async () => expect((await sendRequest(renewedWebhook, { path: "/healthz" })).status).toBe(200));
    expect((await sendRequest(webhook, { path: "/healthz", agent })).status).toBe(200);
    await expect(sendRequest(webhook, { path: "/healthz" })).rejects.toThrow(/certificate|signature/);
    // A key file that does not match the certificate file leaves the served certificate unchanged.
    const foreignKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    writeFileSync(key, foreignKey.export({ type: "pkcs8", format: "pem" }));
    await eventually(() => expect(webhook.output()).toContain("the current certificate stays in use"));
    expect((await sendRequest(renewedWebhook, { path: "/healthz" })).status).toBe(200);
  },
);

test("a port in use ends the webhook with one line of output and status 1", TIMEOUT, async () => {
  const portHolder = createServer();
  await new Promise<void>((resolve) => portHolder.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => portHolder.close());
  const address = portHolder.address();
  const port = typeof address === "object" ? address?.port : 0;
  const end = await spawnWebhook([`--port=${port}`, "--host=127.0.0.1"]).ended;
  expect(end.status).toBe(1);
  expect(end.output).toMatch(
    new RegExp(`^lastcall webhook: .*port ${port} of 127\\.0\\.0\\.1 is in use by another process\n$`),
  );
});

test("invalid flags and configuration values are all reported together, with exit status 64", TIMEOUT, async () => {
  const file = join(createTemporaryFolder(), "config.yaml");
  writeFileSync(file, "defaults: {drain-timeout: soon}\nonInvalid: maybe\n");
  const end = await spawnWebhook(["--port=x", "--opt-in=none", `--config=${file}`]).ended;
  expect(end.status).toBe(64);
  expect(end.output.trimEnd().split("\n")).toHaveLength(4);
  for (const name of ["--port", "--opt-in", "defaults.drain-timeout", "onInvalid"]) expect(end.output).toContain(name);
});
