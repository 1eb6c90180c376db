/** A consumer whose Pod is deleted while it works on as many jobs as it may hold; then who has which job is counted. */
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { factsOfPod } from "../harness/pod-end-facts.ts";
import { until } from "../harness/until.ts";
import { consumerPod } from "./queue-pods.ts";
import { type ConsumerEnd, type ConsumerScene, JOBS, PREFETCH } from "./queue-request.ts";
import type { Stage, Told } from "./queue-stage.ts";

/** How long the broker may take to notice a client that is gone. */
const COLLECT_SECONDS = 20;

export async function playConsumer(stage: Stage, scene: ConsumerScene, queue: string): Promise<ConsumerEnd> {
  const { request, network } = stage;
  const broker = network.kubeletAddress;
  const fill = await stage.startClient("queue_tool.py", [broker, "fill", queue, String(JOBS)]);
  if ((await fill.process.exited) !== 0) throw new Error(`${queue} could not be filled`);
  const manifest = consumerPod(scene, {
    python: request.python,
    pythonPath: request.pythonPath,
    program: stage.clientProgram("consumer.py"),
    broker,
    queue,
  });
  const { pod } = await stage.startPod(manifest, scene.lastcall);
  await until(`${scene.name}: the consumer has begun`, () => began(pod) >= PREFETCH);
  // In the middle of its jobs.
  await stage.clock.wait(500);
  await pod.remove();
  const acknowledged = toldBy(pod).flatMap((line) =>
    typeof line["acknowledged"] === "string" ? [line["acknowledged"]] : [],
  );
  const rest = String(JOBS - acknowledged.length);
  const collect = await stage.startClient("queue_tool.py", [broker, "collect", queue, rest, String(COLLECT_SECONDS)]);
  await collect.process.exited;
  const [found] = collect.told;
  return {
    ...factsOfPod(pod),
    endSeconds: secondsFromDeletion(pod, "gone"),
    graceSeconds: pod.plan.graceSeconds,
    acknowledged,
    left: (found?.["left"] as string[] | undefined) ?? [],
    redelivered: Number(found?.["redelivered"] ?? -1),
  };
}

export function secondsFromDeletion(pod: RunningPod, what: "gone"): number {
  const at = (event: string) => pod.events.find((one) => one.type === event)?.atMs ?? Number.NaN;
  return Math.round((at(what) - at("deleted")) / 10) / 100;
}

function began(pod: RunningPod): number {
  return toldBy(pod).filter((line) => "began" in line).length;
}

function toldBy(pod: RunningPod): readonly Told[] {
  return pod.events.flatMap(({ container, type, detail }) =>
    container === "app" && type === "line" && detail.startsWith("{") ? [JSON.parse(detail)] : [],
  );
}
