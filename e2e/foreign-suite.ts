/** Runs the suite on an existing cluster: kind, k3d, or a real one. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { KubernetesListObject, V1Node } from "@kubernetes/client-node";
import { kubectlOf } from "./client/kubectl.ts";
import type { Suite } from "./client/suite.ts";
import { IMAGE_NAMES } from "./images/image-table.ts";

export type ExistingClusterOptions = {
  readonly context: string;
  readonly registry: string;
  readonly tag: string;
  readonly artifacts: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
};

/** @throws if the kubectl in PATH cannot reach the cluster, or fewer than two of its nodes are schedulable. */
export async function prepareSuiteOnExistingCluster({
  context,
  registry,
  tag,
  artifacts,
  env,
  print,
}: ExistingClusterOptions): Promise<Suite> {
  const base: Suite = {
    kubeconfig: env["KUBECONFIG"] ?? join(homedir(), ".kube/config"),
    context,
    kubectl: "kubectl",
    helm: "helm",
    nodes: ["", ""],
    images: Object.fromEntries(IMAGE_NAMES.map((name) => [name, `${registry}/${name}:${tag}`])),
    webhookClientCa: undefined,
    artifacts: join(artifacts, context.replaceAll(/[^A-Za-z0-9.-]/g, "-")),
  };
  const { items } = await kubectlOf(base).json<KubernetesListObject<V1Node>>(["get", "nodes"]);
  const [first, second] = items.filter(isSchedulable).map((node) => node.metadata?.name ?? "");
  if (first === undefined || second === undefined) {
    throw new Error(
      `Context ${context} has fewer than two schedulable nodes among its ${items.length} nodes. The suite needs two; uncordon nodes or remove their taints.`,
    );
  }
  for (const { metadata, status } of items) {
    const { kubeletVersion, containerRuntimeVersion, kernelVersion } = status?.nodeInfo ?? {};
    print(`node ${metadata?.name}: kubelet ${kubeletVersion}, ${containerRuntimeVersion}, kernel ${kernelVersion}`);
  }
  return { ...base, nodes: [first, second] };
}

function isSchedulable({ spec }: V1Node): boolean {
  return spec?.unschedulable !== true && !(spec?.taints ?? []).some(({ effect }) => effect !== "PreferNoSchedule");
}
