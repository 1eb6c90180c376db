/** The broker of all consumers: outside every Pod, and never stopped. */
import { untilAccepting } from "../harness/accepting.ts";
import { AMQP_PORT, brokerEnvironment, START_BROKER } from "./broker-start.ts";
import type { Stage } from "./queue-stage.ts";

/** Resolves when it accepts connections. */
export async function startBroker(stage: Stage, folder: string): Promise<void> {
  const broker = stage.processes.start({
    argv: ["sh", "-c", START_BROKER],
    environment: { ...stage.imageEnvironment, ...brokerEnvironment(folder) },
    onLine: () => {},
  });
  await untilAccepting(stage.network.kubeletAddress, AMQP_PORT, broker.isRunning, stage.clock);
}
