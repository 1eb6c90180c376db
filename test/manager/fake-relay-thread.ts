/**
 * Runs a fake relay on a worker thread: a manager stops trusting a relay half a second after its last heartbeat, and the
 * test's thread is blocked for longer while it starts programs for five cases at once.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";
import { openRelay, type RelayEvent, type RelayPlan } from "./fake-relay-server.ts";

export type RelayCommand =
  | { readonly kind: "send"; readonly status: WithdrawalStatusLine }
  | { readonly kind: "die" | "rise" | "freeze" | "report" };

export type ThreadMessage =
  | RelayEvent
  | { readonly kind: "listens"; readonly port: number }
  | { readonly kind: "done" };

const send = (message: ThreadMessage) => parentPort?.postMessage(message);
const relay = await openRelay(workerData as RelayPlan, send);

/** Every command gets one reply, in order. */
async function execute(command: RelayCommand): Promise<void> {
  if (command.kind === "send") relay.send(command.status);
  else if (command.kind !== "report") await relay[command.kind]();
  send({ kind: "done" });
}

let last = Promise.resolve();
parentPort?.on("message", (command: RelayCommand) => {
  last = last.then(() => execute(command));
});
send({ kind: "listens", port: relay.port });
