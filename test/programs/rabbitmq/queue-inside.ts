/** Runs, as PID 1 of a new PID namespace, the queue cases: one broker for all consumers, and one broker Pod for each client. */
import { runClusterScript } from "../harness/namespace-script.ts";
import { waitUntilAccepting } from "../harness/until.ts";
import { runBroker } from "./broker-run.ts";
import { AMQP_PORT, brokerEnvironment, START_BROKER } from "./broker-start.ts";
import { runConsumer } from "./consumer-run.ts";
import type { BrokerEnd, ConsumerEnd, QueueRequest, QueueResult } from "./queue-request.ts";
import { createTestbed, type Testbed } from "./queue-testbed.ts";

await runClusterScript(async (request: QueueRequest, cluster): Promise<QueueResult> => {
  const testbed = createTestbed(request, cluster);
  const consumers: Record<string, ConsumerEnd> = {};
  const brokers: Record<string, BrokerEnd> = {};
  const runConsumers = async () => {
    await startBroker(testbed, `${request.folder}/common`);
    await Promise.all(
      request.consumers.map(async (scenario, index) => {
        consumers[scenario.name] = await runConsumer(testbed, scenario, `jobs-${index}`);
      }),
    );
  };
  const brokerRuns = request.brokers.map(async (scenario, index) => {
    brokers[scenario.name] = await runBroker(testbed, scenario, `broker-${index}`);
  });
  await Promise.all([runConsumers(), ...brokerRuns]);
  await testbed.close();
  return { manager: cluster.manager, consumers, brokers };
});

async function startBroker(testbed: Testbed, folder: string): Promise<void> {
  const broker = testbed.processes.start({
    argv: ["sh", "-c", START_BROKER],
    environment: { ...testbed.imageEnvironment, ...brokerEnvironment(folder) },
    onLine: () => {},
  });
  await waitUntilAccepting(testbed.network.kubeletAddress, AMQP_PORT, broker.isRunning);
}
