/** Runs one case: deletes the Pod of a broker while one client stays connected. */
import { collectPodFacts } from "../harness/pod-end-facts.ts";
import { waitUntil } from "../harness/until.ts";
import { secondsUntilRemoved } from "./consumer-run.ts";
import { brokerPod } from "./queue-pods.ts";
import type { BrokerEnd, BrokerScenario } from "./queue-request.ts";
import type { Testbed } from "./queue-testbed.ts";

const STEADY_MS = 2_000;

export async function runBroker(testbed: Testbed, scenario: BrokerScenario, name: string): Promise<BrokerEnd> {
  const { clock } = testbed;
  const folder = `${testbed.request.folder}/${name}`;
  const { pod, injected } = await testbed.startPod(brokerPod(scenario, name, folder), true);
  await waitUntil(`${scenario.name}: the broker is ready`, pod.isReady);
  const client = await testbed.startClient("broker_client.py", [pod.address, scenario.client]);
  await waitUntil(`${scenario.name}: the client finished its first messages`, () => client.reports.length > 0);
  await clock.wait(STEADY_MS);
  const deletedMs = clock.nowMs();
  let closedMs = Number.NaN;
  const clientExit = client.process.exited.then(() => {
    closedMs = clock.nowMs();
  });
  await pod.remove();
  await waitUntil(`${scenario.name}: the client exited`, () => !client.process.isRunning());
  await clientExit;
  return {
    ...collectPodFacts(pod),
    endSeconds: secondsUntilRemoved(pod),
    injected,
    closedAfterSeconds: Math.round((closedMs - deletedMs) / 10) / 100,
    unconfirmed: Number(client.reports.at(-1)?.["unconfirmed"] ?? -1),
  };
}
