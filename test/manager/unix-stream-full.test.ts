/** Tests a Unix socket with a full backlog. Connecting to it fails, as it does without a listener. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import type { HttpEnd } from "../../src/manager/http/http-client.ts";
import { streamUnix } from "../../src/manager/http/http-unix.ts";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-full-"));
const path = join(folder, "admin.sock");
const libc = loadNodeLibc();
const cleanups: (() => unknown)[] = [];

afterAll(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a server that never accepts a connection, because its thread is blocked. */
const SERVER_SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
require("node:net").createServer().listen({ path: workerData, backlog: 2 }, () => {
  parentPort.postMessage("listens");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

function send(): Promise<HttpEnd> {
  const target = { host: path, port: 0, path: "/stats", selector: "" };
  return new Promise((done) => streamUnix(libc, { target, method: "GET", timeoutMs: 300 }, () => "", done));
}

test("a Unix socket with a full backlog is reported as a timeout, and a Unix socket without a listener as a refusal", async () => {
  const worker = new Worker(SERVER_SOURCE, { eval: true, workerData: path });
  cleanups.push(() => worker.terminate());
  await new Promise((done) => worker.once("message", done));
  const ends: HttpEnd[] = [];
  for (let count = 0; count < 5; count += 1) ends.push(await send());
  expect(ends.map((end) => end.timedOut)).toEqual([true, true, true, true, true]);
  expect(ends.at(-1)?.failure).toBe("a program listens on the socket, and its backlog is full");
  await worker.terminate();
  const endWithoutListener = await send();
  expect(endWithoutListener).toMatchObject({ status: 0, timedOut: false });
});
