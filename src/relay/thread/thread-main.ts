/** The relay's thread: puts the relay together, and says to the thread of the admissions what it has to know. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Registry } from "prom-client";
import { connectionTo } from "../../api-server/connection.ts";
import { EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { releaseStartupMemory } from "../../startup-memory.ts";
import { accessIdentityOf, type RelayIdentity } from "../identity/identity.ts";
import { startRelay } from "../relay.ts";
import { giveWay, RELAY_NICENESS } from "./give-way.ts";
import { addHeapMetric } from "./heap-metric.ts";
import { threadLog } from "./thread-log.ts";
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
