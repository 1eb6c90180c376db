/** The relay's thread: puts the relay together, and says to the thread of the admissions what it has to know. */
import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Registry } from "prom-client";
import { connectionTo } from "../../api-server/connection.ts";
import { EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { releaseStartupMemory } from "../../startup-memory.ts";
import { accessIdentityOf, type RelayIdentity } from "../identity/identity.ts";
import { addHeapMetric } from "../metrics.ts";
import { type RelayLog, startRelay } from "../relay.ts";
import type { ThreadOrder, ThreadSettings, ThreadWord } from "./thread-words.ts";

/** Longest time to begin without the Secret: Pods that were given this relay before ask already. */
const FIRST_LOOK_LIMIT_MS = 2_000;

/** Answers at once; the thread goes on until it is ended. Rejects when it cannot begin. */
export async function main(): Promise<number> {
  const port = parentPort;
  if (port === null) {
    process.stderr.write("lastcall relay-thread: only lastcall webhook begins it, as a thread of its own.\n");
    return EXIT_USAGE;
  }
  const settings: ThreadSettings = workerData;
  const say = (word: ThreadWord): void => port.postMessage(word);
  const log = threadLog(say);
  const registry = new Registry();
  addHeapMetric(registry);
  const relay = await startRelay({
    ...settings,
    connection: await connectionTo(settings),
    tellDrain: (note) => say({ kind: "note", note }),
    onLooked: identityTeller(say),
    newId: () => randomBytes(16).toString("hex"),
    wallMs: () => Date.now(),
    log,
    registry,
  });
  const carryOut = async (order: ThreadOrder): Promise<void> => {
    if (order.kind === "figures") {
      say({ kind: "figures", text: await registry.metrics() });
      return;
    }
    await relay.leave();
    say({ kind: "left" });
  };
  port.on("message", (order: ThreadOrder) => void carryOut(order));
  await Promise.race([relay.look(), sleep(FIRST_LOOK_LIMIT_MS)]);
  const relayPort = await relay.listen(settings.host, settings.port);
  // Not before: until now the admissions' thread has waited for this one.
  const niceness = giveWay(RELAY_NICENESS);
  log.info({ relayPort, ...(niceness === "" ? {} : { goesFirst: niceness }) }, "the relay is listening");
  releaseStartupMemory();
  say({ kind: "ready" });
  setInterval(() => void relay.look(), settings.lookMs);
  return EXIT_OK;
}

/** Only what changed: a look comes every few seconds, and a new identity every few months. */
function identityTeller(say: (word: ThreadWord) => void): (identity: RelayIdentity) => void {
  let told = "";
  return (identity) => {
    const parts = [...identity.generations.map(({ id }) => id), ...identity.keys.map(({ kid }) => kid)].join();
    if (parts === told) return;
    told = parts;
    say({ kind: "identity", identity: accessIdentityOf(identity) });
  };
}

/**
 * Of the relay: a third of the share of a thread that has no such number, where both want the same core. Admissions are
 * waited for by a person or a controller, a word of the relay by a Pod that serves meanwhile.
 */
export const RELAY_NICENESS = 5;

/**
 * Linux keeps a priority for each thread, and lowering one's own takes no right.
 *
 * @returns empty, or why it stays as it was
 */
export function giveWay(niceness: number): string {
  try {
    // Read by this thread itself: the link leads to the thread that follows it.
    const thread = /\/task\/([0-9]+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
    if (thread === undefined) return "the thread's number is not known";
    setPriority(Number(thread), niceness);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Log lines as they cross to the thread that writes them: errors become what the log would print of them. */
type Line = Extract<ThreadWord, { kind: "line" }>;

export function threadLog(say: (line: Line) => void): RelayLog {
  const at = (level: Line["level"]) => (keys: object, sentence: string) =>
    say({ kind: "line", level, keys: plainKeys(keys), sentence });
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** An error keeps its code this way, and nothing in it can be what cannot be cloned. */
function plainKeys(keys: object): object {
  const entries = Object.entries(keys).map(([key, value]) => [key, value instanceof Error ? plainError(value) : value]);
  return Object.fromEntries(entries);
}

function plainError(error: Error): object {
  const chain = withCauses(error);
  const code = "code" in error ? { code: String(error.code) } : {};
  return {
    type: error.name,
    message: chain.map(({ message }) => message).join(": "),
    stack: chain.map(({ stack = "" }) => stack).join("\ncaused by: "),
    ...code,
  };
}

/** More say nothing that a log needs; a cause can be its own. */
const CAUSES_LIMIT = 8;

/** The error, its cause, the cause of that, as the log strings those of its own thread together. */
function withCauses(error: Error): readonly Error[] {
  const chain = [error];
  for (let cause = error.cause; cause instanceof Error && chain.length <= CAUSES_LIMIT; cause = cause.cause)
    chain.push(cause);
  return chain;
}
