/** Attacks the port of a webhook process with the attackers of `npm run bench:intake`, which are separate processes too. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { readPeakResidentBytes } from "../../bench/process-cost.ts";
import { pause } from "../time/pause.ts";
import { reviewText } from "./pod-review.ts";
import { createKeepAliveAgent, type RunningWebhook, sendRequest, startWebhook } from "./running-webhook.ts";
import { samplesOf } from "./server-under-test.ts";

const ATTACKER = join(import.meta.dirname, "../../bench/intake/attacker.ts");
const TIMEOUT = { timeout: 240_000 };
/** Memory limits of a replica under one attack, and under all attacks together; the chart's limit is 537 MB. */
const MEMORY_LIMIT_BYTES = 400e6;
const ALL_ATTACKS_MEMORY_LIMIT_BYTES = 440e6;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startForTest(): Promise<RunningWebhook> {
  const webhook = await startWebhook(["--opt-in=all"]);
  cleanups.push(webhook.destroy);
  return webhook;
}

/** @param addresses number of source addresses; 0: the number in the attack's definition */
async function attack(webhook: RunningWebhook, kind: string, addresses = 0): Promise<void> {
  const args = [ATTACKER, kind, String(webhook.port), String(addresses)];
  const attacker = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(attacker, "exit");
  cleanups.push(async () => {
    attacker.kill("SIGKILL");
    await exit;
  });
  const rejectOnExit = exit.then(() =>
    Promise.reject(new Error(`the attacker ended before it attacked: ${args.join(" ")}`)),
  );
  await Promise.race([once(attacker.stdout, "data"), rejectOnExit]);
  rejectOnExit.catch(() => undefined);
}

type Attack = { readonly kind: string; readonly reason: string; readonly minRefusals: number };

/** Sends reviews, which must all succeed, until the webhook has refused `minRefusals` requests for `reason`. */
async function admitUntilRefused(webhook: RunningWebhook, { kind, reason, minRefusals }: Attack): Promise<void> {
  const agent = createKeepAliveAgent(1);
  cleanups.push(() => agent.destroy());
  for (;;) {
    expect((await sendRequest(webhook, { path: "/mutate", body: reviewText(), agent })).status).toBe(200);
    expect((await sendRequest(webhook, { path: "/mutate", body: reviewText() })).status).toBe(200);
    const text = (await sendRequest(webhook, { path: "/metrics", agent })).body;
    const refusedCount = samplesOf(text, "lastcall_requests_refused_total").get(`{reason="${reason}"}`) ?? 0;
    if (refusedCount >= minRefusals) break;
    await pause(100, "the admissions are not sent without a pause");
  }
  expect(readPeakResidentBytes(webhook.pid)).toBeLessThan(
    kind === "all" ? ALL_ATTACKS_MEMORY_LIMIT_BYTES : MEMORY_LIMIT_BYTES,
  );
}

test.for([
  { kind: "chunks", reason: "without_length", minRefusals: 50, title: "endless bodies of one-byte chunks" },
  { kind: "parked", reason: "bodies_full", minRefusals: 20, title: "800 bodies that lack their last byte" },
  { kind: "trickle", reason: "slow_body", minRefusals: 200, title: "500 bodies at one byte a second" },
  { kind: "silence", reason: "connections_full", minRefusals: 100, title: "more connections than the limit" },
  { kind: "heads", reason: "slow_head", minRefusals: 100, title: "endless HTTP headers" },
  {
    kind: "known",
    reason: "connections_full",
    minRefusals: 500,
    title: "1 100 connections with earlier reviews, from six addresses",
  },
  {
    kind: "reviews+large",
    reason: "bodies_full",
    minRefusals: 3,
    title: "valid reviews without a pause, small and large",
  },
  { kind: "all", reason: "bodies_full", minRefusals: 300, title: "several attacks at the same time" },
])(
  "the webhook admits Pods during an attack, and refuses and counts the attacker's requests: $title",
  TIMEOUT,
  async (row) => {
    const webhook = await startForTest();
    await attack(webhook, row.kind);
    // This attack comes from 16 addresses. With a single one, the limit of connections would close most connections before the
    // memory limit refuses their bodies.
    if (row.kind === "all") await attack(webhook, "parked", 16);
    await admitUntilRefused(webhook, row);
    // Each reason is logged at most once a minute.
    expect(webhook.output().split('"msg":"refused"').length).toBeLessThan(10);
  },
);

async function readResponse(webhook: RunningWebhook, bytes: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: webhook.port, ca: webhook.ca, servername: "localhost" });
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.on("error", () => undefined);
  socket.write(bytes);
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

test("an invalid HTTP request gets a response with the reason, and its connection is closed", TIMEOUT, async () => {
  const webhook = await startForTest();
  const requestHead = "POST /mutate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
  expect(await readResponse(webhook, `${requestHead}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n`)).toMatch(
    /^HTTP\/1\.1 411 [\s\S]*connection: close[\s\S]*Content-Length/i,
  );
  expect(await readResponse(webhook, `${requestHead}x: ${"x".repeat(20_000)}`)).toMatch(/^HTTP\/1\.1 431 /);
  expect(await readResponse(webhook, "hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  await new Promise((resolve) => {
    const plainSocket = connectTcp({ host: "127.0.0.1", port: webhook.port }, () =>
      plainSocket.write(`${requestHead}\r\n`),
    );
    plainSocket.on("error", () => undefined).once("close", resolve);
  });
  const refusals = samplesOf(
    (await sendRequest(webhook, { path: "/metrics" })).body,
    "lastcall_requests_refused_total",
  );
  expect([...refusals].filter(([, times]) => times > 0)).toEqual(
    ["without_length", "no_handshake", "large_head", "not_http"].map((reason) => [`{reason="${reason}"}`, 1]),
  );
});
