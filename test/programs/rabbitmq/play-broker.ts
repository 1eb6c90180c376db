/** A broker in a Pod of its own, deleted while one client is connected that never leaves. */
import { factsOfPod } from "../harness/pod-end-facts.ts";
import { until } from "../harness/until.ts";
import { secondsFromDeletion } from "./play-consumer.ts";
import { brokerPod } from "./queue-pods.ts";
import type { BrokerEnd, BrokerScene } from "./queue-request.ts";
import type { Stage } from "./queue-stage.ts";

/** So that what was said at the beginning is past. */
const STEADY_MS = 2_000;

export async function playBroker(stage: Stage, scene: BrokerScene, name: string): Promise<BrokerEnd> {
  const { clock } = stage;
  const folder = `${stage.request.folder}/${name}`;
  const { pod, injected } = await stage.startPod(brokerPod(scene, name, folder), true);
  await until(`${scene.name}: the broker is ready`, pod.isReady);
  const client = await stage.startClient("broker_client.py", [pod.address, scene.client]);
  await until(`${scene.name}: the client is steady`, () => client.told.length > 0);
  await clock.wait(STEADY_MS);
  const deletedMs = clock.nowMs();
  let closedMs = Number.NaN;
  const closing = client.process.exited.then(() => {
    closedMs = clock.nowMs();
  });
  await pod.remove();
  await until(`${scene.name}: the client noticed`, () => !client.process.isRunning());
  await closing;
  return {
    ...factsOfPod(pod),
    endSeconds: secondsFromDeletion(pod, "gone"),
    injected,
    closedAfterSeconds: Math.round((closedMs - deletedMs) / 10) / 100,
    unconfirmed: Number(client.told.at(-1)?.["unconfirmed"] ?? -1),
  };
}
