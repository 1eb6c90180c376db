/** Tests failures of real worker threads, which must not end this process. */
import { createHmac, createSecretKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Fault } from "../../../src/fault.ts";
import {
  HEAP_LIMIT_MIB,
  heapLimitMiB,
  type RelayWorker,
  startWorker,
  type WorkerMessage,
  type WorkerSettings,
} from "../../../src/relay/thread/relay-worker.ts";
import { threadLog } from "../../../src/relay/thread/thread-main.ts";
import { createLog } from "../../../src/webhook/log.ts";

const TIMEOUT = { timeout: 120_000 };

const SETTINGS: WorkerSettings = {
  kubeconfigFile: "",
  namespace: "lastcall",
  secretName: "lastcall-relay",
  host: "127.0.0.1",
  port: 0,
  readsPods: false,
  adminPort: 0,
  adminListen: "loopback",
  instance: "web-1",
  reconcileMs: 1_000,
};

type RunningThread = {
  readonly thread: RelayWorker;
  readonly ended: Promise<unknown>;
  readonly message: Promise<WorkerMessage>;
};

function runThread(source: string, heapMiB = 64): RunningThread {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-thread-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "program.mjs");
  writeFileSync(program, `import { parentPort, workerData } from "node:worker_threads";\n${source}`);
  let reportExit: (why: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => {
    reportExit = resolve;
  });
  let receive: (message: WorkerMessage) => void = () => undefined;
  const message = new Promise<WorkerMessage>((resolve) => {
    receive = resolve;
  });
  const thread = startWorker(program, { settings: SETTINGS, heapMiB }, { onMessage: receive, onExit: reportExit });
  onTestFinished(thread.terminate);
  return { thread, ended, message };
}

test("the relay's thread runs the program with the command relay-thread and the settings", TIMEOUT, async () => {
  const { message } = runThread(
    'parentPort.postMessage({ kind: "line", keys: { ...workerData, command: process.argv[2] } });',
  );
  expect(await message).toMatchObject({ keys: { ...SETTINGS, command: "relay-thread" } });
});

test("an exception in the relay's thread is reported as the reason of the thread's exit", TIMEOUT, async () => {
  expect(await runThread('throw new Error("no relay today");').ended).toMatchObject({ message: "no relay today" });
});

test("an unhandled rejection in the relay's thread ends the thread", TIMEOUT, async () => {
  const { ended } = runThread('setInterval(() => undefined, 1e3); void Promise.reject(new Error("forgotten"));');
  expect(await ended).toMatchObject({ message: "forgotten" });
});

test("an exit of the relay's thread without an exception is reported with the exit status", TIMEOUT, async () => {
  expect(await runThread("process.exit(7);").ended).toMatchObject({
    message: "the relay's thread ended with status 7",
  });
});

test("a full heap ends the relay's thread and not the process", TIMEOUT, async () => {
  const { ended } = runThread("const all = []; for (;;) all.push({ at: all.length });", 16);
  expect(await ended).toMatchObject({ code: "ERR_WORKER_OUT_OF_MEMORY" });
});

test("in a container with less memory, the relay's thread has a smaller heap limit", () => {
  const MIB = 1_048_576;
  expect(heapLimitMiB(512 * MIB)).toBe(213);
  // The values are the chart's memory limit, a greater limit, and the two values of a container without a limit.
  for (const bytes of [1_536 * MIB, 4_096 * MIB, 0, 2 ** 64]) expect(heapLimitMiB(bytes)).toBe(HEAP_LIMIT_MIB);
});

test("a thread in an endless loop can be terminated", TIMEOUT, async () => {
  const { thread, message, ended } = runThread('parentPort.postMessage({ kind: "ready" }); for (;;);');
  await message;
  thread.send({ kind: "end-streams" });
  await thread.terminate();
  expect(await ended).toMatchObject({ message: "the relay's thread ended with status 1" });
});

test("a signing key from the worker thread creates the same signatures in the main thread", TIMEOUT, async () => {
  const secret = Buffer.alloc(32, 7);
  const { message } = runThread(
    [
      'import { createSecretKey } from "node:crypto";',
      "const keys = [{ kid: 'k', createdMs: 1, secret: createSecretKey(Buffer.alloc(32, 7)) }];",
      "parentPort.postMessage({ kind: 'identity', identity: { cas: [], keys } });",
    ].join("\n"),
  );
  const receivedMessage = await message;
  const key = receivedMessage.kind === "identity" ? receivedMessage.identity.keys[0]?.secret : undefined;
  const computeMac = (secretKey: Parameters<typeof createHmac>[1]) =>
    createHmac("sha256", secretKey).update("x").digest("hex");
  expect(computeMac(key ?? "")).toBe(computeMac(createSecretKey(secret)));
});

test("a log line of the thread has the error's code, even if the error cannot be cloned", () => {
  const lines: WorkerMessage[] = [];
  const cause = Object.assign(new Error("in use"), { uncloneable: () => undefined });
  threadLog((line) => lines.push(line)).error({ err: new Fault("ERR_LISTEN_FAILED", "port 1", cause) }, "it failed");
  const [line] = structuredClone(lines);
  expect(line).toMatchObject({
    level: "error",
    sentence: "it failed",
    keys: { err: { type: "Fault", code: "ERR_LISTEN_FAILED", message: expect.stringContaining("port 1") } },
  });
});

test("a log line of the thread can have an error that is its own cause", () => {
  const lines: WorkerMessage[] = [];
  const error = new Error("again");
  error.cause = error;
  threadLog((line) => lines.push(line)).warn({ err: error }, "it failed");
  expect(structuredClone(lines)).toMatchObject([
    { keys: { err: { message: expect.stringMatching(/^again: again/) } } },
  ]);
});

test("an error of the relay's thread is logged with its name and causes, like an error of the main thread", () => {
  const logLines: { readonly err: { readonly stack: string } }[] = [];
  const log = createLog("info", { write: (line) => logLines.push(JSON.parse(line)) });
  const cause = new Error("listen EADDRINUSE", { cause: new Error("someone has it") });
  const fault = new Fault("ERR_LISTEN_FAILED", "port 1", cause);
  const threadLogger = threadLog((line) => log[line.level](structuredClone(line.keys), line.sentence));
  for (const logger of [log, threadLogger]) logger.error({ err: fault }, "it failed");
  const message = `${fault.message}: listen EADDRINUSE: someone has it`;
  const expectedError = { type: "Fault", message, code: "ERR_LISTEN_FAILED" };
  expect(logLines).toMatchObject([{ err: expectedError }, { err: expectedError }]);
  expect(logLines[1]?.err.stack).toBe(logLines[0]?.err.stack);
});
