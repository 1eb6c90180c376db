/** The broker of all consumers: outside every Pod, and never stopped. */
import { connect } from "node:net";
import { AMQP_PORT, brokerEnvironment, START_BROKER } from "./broker-start.ts";
import type { Stage } from "./queue-stage.ts";

/** Resolves when it accepts connections. */
export async function startBroker(stage: Stage, folder: string): Promise<void> {
  const broker = stage.processes.start({
    argv: ["sh", "-c", START_BROKER],
    environment: { ...stage.imageEnvironment, ...brokerEnvironment(folder) },
    onLine: () => {},
  });
  let listens = false;
  const look = async () => {
    while (!listens && broker.isRunning()) {
      listens = await accepts(stage.network.kubeletAddress);
      await stage.clock.wait(100);
    }
  };
  const looking = look();
  await stage.until("the broker listens", () => listens || !broker.isRunning());
  await looking;
  if (!listens) throw new Error(`the broker ended with ${await broker.exited}`);
}

function accepts(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: AMQP_PORT });
    const over = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => over(true)).once("error", () => over(false));
  });
}
