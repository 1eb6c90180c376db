/** Runs one case: deletes the Pod of a consumer with a full prefetch of jobs, and counts the jobs afterwards. */
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { collectPodFacts } from "../harness/pod-end-facts.ts";
import { waitUntil } from "../harness/until.ts";
import { consumerPod } from "./queue-pods.ts";
import { type ConsumerEnd, type ConsumerScenario, JOBS, PREFETCH } from "./queue-request.ts";
import type { Report, Testbed } from "./queue-testbed.ts";

const COLLECT_SECONDS = 20;

export async function runConsumer(testbed: Testbed, scenario: ConsumerScenario, queue: string): Promise<ConsumerEnd> {
  const { request, network } = testbed;
  const broker = network.kubeletAddress;
  const fillClient = await testbed.startClient("queue_tool.py", [broker, "fill", queue, String(JOBS)]);
  if ((await fillClient.process.exited) !== 0)
    throw new Error(`queue ${queue} could not be filled; see the stderr above`);
  const manifest = consumerPod(scenario, {
    python: request.python,
    pythonPath: request.pythonPath,
    program: testbed.clientProgram("consumer.py"),
    broker,
    queue,
  });
  const { pod } = await testbed.startPod(manifest, scenario.lastcall);
  await waitUntil(`${scenario.name}: the consumer has started its jobs`, () => countStartedJobs(pod) >= PREFETCH);
  await testbed.clock.wait(500);
  await pod.remove();
  const acknowledged = reportsOf(pod).flatMap((line) =>
    typeof line["acknowledged"] === "string" ? [line["acknowledged"]] : [],
  );
  const remainingCount = String(JOBS - acknowledged.length);
  const collectClient = await testbed.startClient("queue_tool.py", [
    broker,
    "collect",
    queue,
    remainingCount,
    String(COLLECT_SECONDS),
  ]);
  await collectClient.process.exited;
  const [collectReport] = collectClient.reports;
  return {
    ...collectPodFacts(pod),
    endSeconds: secondsUntilRemoved(pod),
    graceSeconds: pod.plan.graceSeconds,
    acknowledged,
    remaining: (collectReport?.["remaining"] as string[] | undefined) ?? [],
    redelivered: Number(collectReport?.["redelivered"] ?? -1),
  };
}

export function secondsUntilRemoved(pod: RunningPod): number {
  const eventTimeMs = (type: string) => pod.events.find((event) => event.type === type)?.atMs ?? Number.NaN;
  return Math.round((eventTimeMs("gone") - eventTimeMs("deleted")) / 10) / 100;
}

function countStartedJobs(pod: RunningPod): number {
  return reportsOf(pod).filter((line) => "started" in line).length;
}

function reportsOf(pod: RunningPod): readonly Report[] {
  return pod.events.flatMap(({ container, type, detail }) =>
    container === "app" && type === "line" && detail.startsWith("{") ? [JSON.parse(detail)] : [],
  );
}
