/**
 * Runs a fake relay on a worker thread. The test's thread can be blocked for more than half a second while it starts programs,
 * and a manager does not trust a relay that sent no heartbeat for half a second.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";
import { openRelay, type RelayEvent, type RelayPlan } from "./fake-relay-server.ts";

export type RelayCommand =
  | { readonly kind: "send"; readonly status: WithdrawalStatusLine }
  | { readonly kind: "crash" | "restart" | "freeze" | "flush" };

export type ThreadMessage =
  | RelayEvent
  | { readonly kind: "listens"; readonly port: number }
  | { readonly kind: "done" };

const send = (message: ThreadMessage) => parentPort?.postMessage(message);
const relay = await openRelay(workerData as RelayPlan, send);

/** Every command gets one reply, in order. */
async function execute(command: RelayCommand): Promise<void> {
  if (command.kind === "send") relay.send(command.status);
  else if (command.kind !== "flush") await relay[command.kind]();
  send({ kind: "done" });
}

let lastCommand = Promise.resolve();
parentPort?.on("message", (command: RelayCommand) => {
  lastCommand = lastCommand.then(() => execute(command));
});
send({ kind: "listens", port: relay.port });
