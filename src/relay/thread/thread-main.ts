/** Runs the relay in a worker thread, and sends identity, Events, log lines and metrics to the main thread. */
import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Registry } from "prom-client";
import { loadKubeConfig } from "../../api-server/load-kube-config.ts";
import { EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { releaseStartupMemory } from "../../startup-memory.ts";
import { issuerIdentityOf, type RelayIdentity } from "../identity/identity.ts";
import { addGauge } from "../metrics.ts";
import { type RelayLog, startRelay } from "../relay.ts";
import type { LogLine, WorkerMessage, WorkerRequest, WorkerSettings } from "./relay-worker.ts";

type Send = (message: WorkerMessage) => void;

/** Longest wait for the Secret at the start; it is short because Pods with an earlier credential already connect. */
const FIRST_READ_LIMIT_MS = 2_000;

/** Resolves when the relay has started; the thread runs until it is terminated. Rejects when it cannot start. */
export async function main(): Promise<number> {
  const port = parentPort;
  if (port === null) {
    process.stderr.write("lastcall relay-thread: not a command; lastcall webhook runs it in a worker thread.\n");
    return EXIT_USAGE;
  }
  const settings: WorkerSettings = workerData;
  const send: Send = (message) => port.postMessage(message);
  const log = threadLog(send);
  const registry = new Registry();
  addGauge("heapUsed", registry, () => process.memoryUsage().heapUsed);
  const relay = await startRelay({
    ...settings,
    connection: await loadKubeConfig(settings),
    recordDrainEvent: (event) => send({ kind: "event", event }),
    onReconciled: identitySender(send),
    newId: () => randomBytes(16).toString("hex"),
    wallMs: () => Date.now(),
    log,
    registry,
  });
  const handleRequest = async ({ kind }: WorkerRequest): Promise<void> => {
    if (kind === "metrics") return send({ kind, text: await registry.metrics() });
    await relay.endStreams();
    send({ kind: "streams-ended" });
  };
  port.on("message", (request: WorkerRequest) => void handleRequest(request));
  await Promise.race([relay.reconcile(), sleep(FIRST_READ_LIMIT_MS)]);
  const relayPort = await relay.listen(settings.host, settings.port);
  // The priority is not lowered earlier, because the main thread waits until the relay listens.
  const priorityError = lowerPriority(RELAY_NICENESS);
  log.info({ relayPort, ...(priorityError === "" ? {} : { priorityError }) }, "the relay is listening");
  releaseStartupMemory();
  send({ kind: "ready" });
  setInterval(() => void relay.reconcile(), settings.reconcileMs);
  return EXIT_OK;
}

function identitySender(send: Send): (identity: RelayIdentity) => void {
  let sentIds = "";
  return (identity) => {
    const ids = [...identity.cas.map(({ id }) => id), ...identity.keys.map(({ kid }) => kid)].join();
    if (ids === sentIds) return;
    sentIds = ids;
    send({ kind: "identity", identity: issuerIdentityOf(identity) });
  };
}

/**
 * The relay's thread gets a third of the CPU share of the main thread, which has niceness 0: a person or a controller waits for
 * an admission, while a Pod keeps serving until the relay responds.
 */
export const RELAY_NICENESS = 5;

/** Affects this thread only; a process may raise its niceness without privileges. @returns empty, or the error */
export function lowerPriority(niceness: number): string {
  try {
    // The link contains the id of the thread that reads it.
    const threadId = /\/task\/([0-9]+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
    if (threadId === undefined) return "cannot read the thread id from /proc/thread-self";
    setPriority(Number(threadId), niceness);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Converts errors to plain objects: structured cloning drops their code and fails on some of their properties. */
export function threadLog(send: (line: LogLine) => void): RelayLog {
  const logAt = (level: LogLine["level"]) => (keys: object, sentence: string) => {
    const entries = Object.entries(keys).map(([key, value]) => [
      key,
      value instanceof Error ? plainError(value) : value,
    ]);
    send({ kind: "line", level, keys: Object.fromEntries(entries), sentence });
  };
  return { info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** An error can be its own cause. */
const CAUSES_LIMIT = 8;

function plainError(error: Error): object {
  const errors = [error];
  for (let cause = error.cause; cause instanceof Error && errors.length <= CAUSES_LIMIT; cause = cause.cause)
    errors.push(cause);
  return {
    type: error.name,
    message: errors.map(({ message }) => message).join(": "),
    stack: errors.map(({ stack = "" }) => stack).join("\ncaused by: "),
    ...("code" in error ? { code: String(error.code) } : {}),
  };
}
