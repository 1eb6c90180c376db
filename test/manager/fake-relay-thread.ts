/**
 * A fake relay on a thread of its own. Who relies on a relay gives it up half a second after its last beat, and the thread
 * of the test is held up for longer than that where it starts programs for five cases at once.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { WithdrawalLine } from "../../src/contract/relay-wire.ts";
import { openRelay, type RelayNews, type RelayPlan } from "./fake-relay-server.ts";

export type RelayOrder =
  | { readonly kind: "say"; readonly what: WithdrawalLine }
  | { readonly kind: "die" | "rise" | "freeze" | "report" };

export type ThreadNews = RelayNews | { readonly kind: "listens"; readonly port: number } | { readonly kind: "obeyed" };

const tell = (news: ThreadNews) => parentPort?.postMessage(news);
const relay = await openRelay(workerData as RelayPlan, tell);

/** Every order is answered once, in its turn. */
async function obey(order: RelayOrder): Promise<void> {
  if (order.kind === "say") relay.say(order.what);
  else if (order.kind !== "report") await relay[order.kind]();
  tell({ kind: "obeyed" });
}

let last = Promise.resolve();
parentPort?.on("message", (order: RelayOrder) => {
  last = last.then(() => obey(order));
});
tell({ kind: "listens", port: relay.port });
