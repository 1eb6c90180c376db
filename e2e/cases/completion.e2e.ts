/** Tests that the manager does not delay the end of Pods that run to completion. */
import type { KubernetesListObject, V1CronJob, V1Job, V1Pod, V1PodTemplateSpec } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { MANAGER } from "../client/pod-log.ts";
import { nodeContainer } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
/** The manager waits 2 s for the apps' hooks, the times in a Pod's status are whole seconds, and the kubelet reacts with a delay. */
const MAX_DELAY_MS = 10_000;

describe("a Pod that runs to completion", () => {
  test("completes on time in a Job and in a CronJob, with a manager only if the Pod opts in", async () => {
    await inNamespace(suite, "completion", { labels: OPT_IN }, async (namespace) => {
      const [optedIn, plain] = [{ "lastcall.dev/inject": "enabled" }, {}].map((annotations) =>
        workTemplate(namespace, annotations),
      );
      if (optedIn === undefined || plain === undefined) throw new Error("This case needs two Pod templates.");
      await namespace.apply([
        job(namespace, "opted-in", optedIn),
        job(namespace, "plain", plain),
        cronJob(namespace, optedIn),
      ]);
      for (const name of ["opted-in", "plain"])
        await namespace.kubectl.run(["wait", "--for=condition=Complete", `job/${name}`, "--timeout=60s"]);
      expect(containerNames(await podOf(namespace, "plain"))).toEqual(["work"]);
      await expectOnTime(namespace, await podOf(namespace, "opted-in"));
      await expectOnTime(namespace, await podOf(namespace, await waitForFirstJob(namespace, "every-minute")));
    });
  });
});

async function expectOnTime(namespace: CaseNamespace, pod: V1Pod): Promise<void> {
  const name = pod.metadata?.name;
  expect(pod.status?.phase).toBe("Succeeded");
  expect(pod.spec?.initContainers).toContainEqual(managerOf(pod));
  const workState = pod.status?.containerStatuses?.[0]?.state?.terminated;
  const managerState = pod.status?.initContainerStatuses?.find((status) => status.name === MANAGER)?.state?.terminated;
  expect(workState?.exitCode).toBe(0);
  expect(managerState?.exitCode).toBe(0);
  const delayMs = Number(new Date(managerState?.finishedAt ?? 0)) - Number(new Date(workState?.finishedAt ?? 0));
  namespace.addTimelineLine(`the manager of ${name} ended ${delayMs} ms after the work`);
  expect(delayMs).toBeLessThanOrEqual(MAX_DELAY_MS);
  // No hook of the app runs, so the manager must not wait for traffic.
  const output = await namespace.kubectl.run(["logs", String(name), `--container=${MANAGER}`]);
  const reportLine = output.split("\n").find((line) => line.includes('"drain report"'));
  expect(JSON.parse(reportLine ?? "{}")).toMatchObject({ report: { outcome: "not-needed", trigger: "hook" } });
}

/** Returns the name of the first Job, which the CronJob creates at the next full minute. */
function waitForFirstJob(namespace: CaseNamespace, cron: string): Promise<string> {
  return waitUntil({ condition: `a Job of ${cron} is complete`, withinMs: 120_000, everyMs: 500 }, async () => {
    const { items } = await namespace.kubectl.json<KubernetesListObject<V1Job>>(["get", "jobs"]);
    const completedJob = items.find(
      ({ metadata, status }) => metadata?.ownerReferences?.[0]?.name === cron && (status?.succeeded ?? 0) > 0,
    );
    return completedJob?.metadata?.name;
  });
}

async function podOf(namespace: CaseNamespace, jobName: string): Promise<V1Pod> {
  const [pod] = await namespace.pods(`batch.kubernetes.io/job-name=${jobName}`);
  if (pod === undefined) throw new Error(`Job ${jobName} has no Pod.`);
  return pod;
}

function containerNames(pod: V1Pod): readonly string[] {
  return [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({ name }) => name);
}

function workTemplate(namespace: CaseNamespace, annotations: Readonly<Record<string, string>>): V1PodTemplateSpec {
  const containers = [nodeContainer(namespace, "work", ["-e", "setTimeout(() => {}, 2000)"])];
  return { metadata: { annotations: { ...annotations } }, spec: { restartPolicy: "Never", containers } };
}

function job(namespace: CaseNamespace, name: string, template: V1PodTemplateSpec): V1Job {
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name, namespace: namespace.name }, spec: { template } };
}

function cronJob(namespace: CaseNamespace, template: V1PodTemplateSpec): V1CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "every-minute", namespace: namespace.name },
    spec: { schedule: "* * * * *", jobTemplate: { spec: { template } } },
  };
}
