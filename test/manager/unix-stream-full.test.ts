/** A Unix socket whose owner stands still: after some callers the kernel refuses more, as if no one listened. */
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
const leaving: (() => unknown)[] = [];

afterAll(async () => {
  for (const leave of leaving.splice(0)) await leave();
  rmSync(folder, { recursive: true, force: true });
});

/** Listens, and then its thread never takes anybody. */
const STANDS_STILL = `
const { parentPort, workerData } = require("node:worker_threads");
require("node:net").createServer().listen({ path: workerData, backlog: 2 }, () => {
  parentPort.postMessage("listens");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

function ask(): Promise<HttpEnd> {
  const target = { host: path, port: 0, path: "/stats", selector: "" };
  return new Promise((done) => streamUnix(libc, { target, method: "GET", limitMs: 300 }, () => "", done));
}

test("a socket that takes no more callers is someone who does not answer, and a socket no one listens on is not", async () => {
  const worker = new Worker(STANDS_STILL, { eval: true, workerData: path });
  leaving.push(() => worker.terminate());
  await new Promise((done) => worker.once("message", done));
  const ends: HttpEnd[] = [];
  for (let asked = 0; asked < 5; asked += 1) ends.push(await ask());
  expect(ends.map((end) => end.timedOut)).toEqual([true, true, true, true, true]);
  expect(ends.at(-1)?.failure).toBe("a program listens on the socket, and its backlog is full");
  await worker.terminate();
  const gone = await ask();
  expect(gone).toMatchObject({ status: 0, timedOut: false });
});
