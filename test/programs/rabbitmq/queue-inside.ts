/** Process 1 of the namespaces of the queue cases: one broker for all consumers, and a broker in a Pod for each client. */
import { answerInside } from "../harness/answer-inside.ts";
import { untilAccepting } from "../harness/until.ts";
import { AMQP_PORT, brokerEnvironment, START_BROKER } from "./broker-start.ts";
import { playBroker } from "./play-broker.ts";
import { playConsumer } from "./play-consumer.ts";
import type { BrokerEnd, ConsumerEnd, QueueRequest, QueueResult } from "./queue-request.ts";
import { createStage, type Stage } from "./queue-stage.ts";

await answerInside(async (request: QueueRequest, surroundings): Promise<QueueResult> => {
  const stage = createStage(request, surroundings);
  const consumers: Record<string, ConsumerEnd> = {};
  const brokers: Record<string, BrokerEnd> = {};
  const withBroker = async () => {
    await startBroker(stage, `${request.folder}/common`);
    await Promise.all(
      request.consumers.map(async (scene, at) => {
        consumers[scene.name] = await playConsumer(stage, scene, `jobs-${at}`);
      }),
    );
  };
  const inPods = request.brokers.map(async (scene, at) => {
    brokers[scene.name] = await playBroker(stage, scene, `broker-${at}`);
  });
  await Promise.all([withBroker(), ...inPods]);
  await stage.close();
  return { manager: surroundings.manager, consumers, brokers };
});

/** The broker of all consumers: outside every Pod, and never stopped. */
async function startBroker(stage: Stage, folder: string): Promise<void> {
  const broker = stage.processes.start({
    argv: ["sh", "-c", START_BROKER],
    environment: { ...stage.imageEnvironment, ...brokerEnvironment(folder) },
    onLine: () => {},
  });
  await untilAccepting(stage.network.kubeletAddress, AMQP_PORT, broker.isRunning);
}
