/** The relay's thread: runs the relay and sends identity, Events, log lines and metrics to the thread of the admissions. */
import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Registry } from "prom-client";
import { loadKubeConfig } from "../../api-server/load-kube-config.ts";
import { EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { releaseStartupMemory } from "../../startup-memory.ts";
import { accessIdentityOf, type RelayIdentity } from "../identity/identity.ts";
import { addGauge } from "../metrics.ts";
import { type RelayLog, startRelay } from "../relay.ts";
import type { LogLine, WorkerMessage, WorkerRequest, WorkerSettings } from "./relay-worker.ts";

type Send = (message: WorkerMessage) => void;

/** Longest start without the Secret: Pods that were given this relay before call it already. */
const FIRST_READ_LIMIT_MS = 2_000;

/** Resolves at once; the thread runs until it is terminated. Rejects when it cannot start. */
export async function main(): Promise<number> {
  const port = parentPort;
  if (port === null) {
    process.stderr.write("lastcall relay-thread: only lastcall webhook begins it, as a thread of its own.\n");
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
    tellDrain: (note) => send({ kind: "note", note }),
    onLooked: identitySender(send),
    newId: () => randomBytes(16).toString("hex"),
    wallMs: () => Date.now(),
    log,
    registry,
  });
  const carryOut = async ({ kind }: WorkerRequest): Promise<void> => {
    if (kind === "figures") return send({ kind, text: await registry.metrics() });
    await relay.leave();
    send({ kind: "left" });
  };
  port.on("message", (request: WorkerRequest) => void carryOut(request));
  await Promise.race([relay.look(), sleep(FIRST_READ_LIMIT_MS)]);
  const relayPort = await relay.listen(settings.host, settings.port);
  // Not before: until now the thread of the admissions has waited for this one.
  const failure = lowerPriority(RELAY_NICENESS);
  log.info({ relayPort, ...(failure === "" ? {} : { goesFirst: failure }) }, "the relay is listening");
  releaseStartupMemory();
  send({ kind: "ready" });
  setInterval(() => void relay.look(), settings.lookMs);
  return EXIT_OK;
}

/** Sends changes only: the Secret is read every few seconds and changes every few months. */
function identitySender(send: Send): (identity: RelayIdentity) => void {
  let sent = "";
  return (identity) => {
    const ids = [...identity.generations.map(({ id }) => id), ...identity.keys.map(({ kid }) => kid)].join();
    if (ids === sent) return;
    sent = ids;
    send({ kind: "identity", identity: accessIdentityOf(identity) });
  };
}

/**
 * A third of the share of a thread with niceness 0 on the same core. A person or a controller waits for an admission; a
 * Pod keeps serving while it waits for the relay.
 */
export const RELAY_NICENESS = 5;

/**
 * Linux keeps a niceness for each thread, and raising one's own needs no privilege.
 *
 * @returns empty, or why it failed
 */
export function lowerPriority(niceness: number): string {
  try {
    // The link leads to the thread that reads it.
    const thread = /\/task\/([0-9]+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
    if (thread === undefined) return "the thread's number is not known";
    setPriority(Number(thread), niceness);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Turns errors into plain objects: cloning drops their code and fails on some of their properties. */
export function threadLog(send: (line: LogLine) => void): RelayLog {
  const at = (level: LogLine["level"]) => (keys: object, sentence: string) => {
    const entries = Object.entries(keys).map(([key, value]) => [
      key,
      value instanceof Error ? plainError(value) : value,
    ]);
    send({ kind: "line", level, keys: Object.fromEntries(entries), sentence });
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** An error can be its own cause. */
const CAUSES_LIMIT = 8;

/** As pino prints an error and its causes. */
function plainError(error: Error): object {
  const chain = [error];
  for (let cause = error.cause; cause instanceof Error && chain.length <= CAUSES_LIMIT; cause = cause.cause)
    chain.push(cause);
  return {
    type: error.name,
    message: chain.map(({ message }) => message).join(": "),
    stack: chain.map(({ stack = "" }) => stack).join("\ncaused by: "),
    ...("code" in error ? { code: String(error.code) } : {}),
  };
}
