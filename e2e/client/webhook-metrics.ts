/** Reads the metrics of the webhook's replicas through the API server's proxy, which works on any cluster. */
import type { KubernetesListObject, V1Pod } from "@kubernetes/client-node";
import type { Kubectl } from "./kubectl.ts";
import { RELEASE_NAMESPACE } from "./release.ts";

const WEBHOOK_SELECTOR = "app.kubernetes.io/component=webhook";

/** Lists the replicas that run and are not terminating. */
export async function listWebhookPods(kubectl: Kubectl, namespace = RELEASE_NAMESPACE): Promise<readonly V1Pod[]> {
  const args = ["--namespace", namespace, "get", "pods", `--selector=${WEBHOOK_SELECTOR}`];
  const { items } = await kubectl.json<KubernetesListObject<V1Pod>>(args);
  return items.filter(
    ({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.phase === "Running",
  );
}

/** Sums, per replica, the samples of one metric whose lines contain all the parts. */
export async function readSamples(
  kubectl: Kubectl,
  name: string,
  parts: readonly string[] = [],
): Promise<readonly number[]> {
  const metrics = await Promise.all((await listWebhookPods(kubectl)).map((pod) => readMetrics(kubectl, pod)));
  return metrics.flatMap((text) => {
    const lines = text
      .split("\n")
      .filter((line) => line.startsWith(name) && parts.every((part) => line.includes(part)));
    return lines.length === 0 ? [] : [lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)];
  });
}

export function sumOfSamples(samples: readonly number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0);
}

function readMetrics(kubectl: Kubectl, { metadata, spec }: V1Pod): Promise<string> {
  const port = spec?.containers[0]?.ports?.[0]?.containerPort ?? 0;
  const podsPath = `/api/v1/namespaces/${metadata?.namespace}/pods`;
  return kubectl.run(["get", "--raw", `${podsPath}/https:${metadata?.name}:${port}/proxy/metrics`]);
}
