/** Creates a namespace for one case, records it, and deletes it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesListObject, KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { waitUntil } from "../host/wait.ts";
import { type Kubectl, kubectlIn, kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";
import { recordTimeline } from "./timeline.ts";

export type CaseNamespace = {
  readonly name: string;
  readonly suite: Suite;
  /** kubectl without `--namespace`, for cluster-scoped objects. */
  readonly clusterKubectl: Kubectl;
  /** kubectl in this namespace. */
  readonly kubectl: Kubectl;
  /** Applies manifests, by default into this namespace. */
  readonly apply: (manifests: string | readonly KubernetesObject[]) => Promise<void>;
  /** Lists the Pods that match the label selector, by default all; includes terminating Pods. */
  readonly pods: (selector?: string) => Promise<readonly V1Pod[]>;
  /** Waits for a rollout to be complete. */
  readonly waitForRollout: (workload: string, withinSeconds?: number) => Promise<void>;
  /** Waits until no Pod that matches the label selector is terminating: a rollout is complete before its old Pods are deleted. */
  readonly waitForTerminations: (selector?: string, withinSeconds?: number) => Promise<void>;
  /** Adds a line to the timeline. */
  readonly addTimelineLine: (line: string) => void;
  /** Writes a file to the case's artifacts. */
  readonly saveArtifact: (file: string, content: string) => void;
};

export type NamespaceOptions = {
  readonly labels?: Readonly<Record<string, string>>;
  /** See `depth` in `timeline.ts`; `logs` by default. */
  readonly timeline?: "pods" | "logs";
};

/** Runs the case; even after a failure its timeline is saved and the namespace deleted. */
export async function inNamespace(
  suite: Suite,
  name: string,
  options: NamespaceOptions,
  work: (namespace: CaseNamespace) => Promise<void>,
): Promise<void> {
  const clusterKubectl = kubectlOf(suite);
  const folder = join(suite.artifacts, name);
  mkdirSync(folder, { recursive: true });
  await deleteNamespace(clusterKubectl, name);
  await createNamespace(clusterKubectl, name, options.labels ?? {});
  const timeline = recordTimeline({ kubectl: clusterKubectl, namespace: name, depth: options.timeline ?? "logs" });
  const saveArtifact = (file: string, content: string) => writeFileSync(join(folder, file), content);
  try {
    await work(
      createCaseNamespace({
        suite,
        clusterKubectl,
        name,
        addTimelineLine: timeline.addTimelineLine,
        saveArtifact,
      }),
    );
    timeline.addTimelineLine("the case passed");
  } catch (error) {
    timeline.addTimelineLine(`the case failed: ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  } finally {
    const pods = await clusterKubectl.attempt(["--namespace", name, "get", "pods", "--output=yaml"]);
    saveArtifact("pods.yaml", pods.output);
    saveArtifact("timeline.txt", `${(await timeline.end()).join("\n")}\n`);
    // The deletion of a namespace takes 5 s, and no other case needs this namespace's name, so the case does not wait for the deletion.
    await deleteNamespace(clusterKubectl, name, "--wait=false");
  }
}

type NamespaceParts = Pick<CaseNamespace, "suite" | "clusterKubectl" | "name" | "addTimelineLine" | "saveArtifact">;

function createCaseNamespace({
  suite,
  clusterKubectl,
  name,
  addTimelineLine,
  saveArtifact,
}: NamespaceParts): CaseNamespace {
  const namespacedKubectl = kubectlIn(clusterKubectl, name);
  const pods = async (selector = "") =>
    (await namespacedKubectl.json<KubernetesListObject<V1Pod>>(["get", "pods", `--selector=${selector}`])).items;
  return {
    name,
    suite,
    clusterKubectl,
    kubectl: namespacedKubectl,
    pods,
    addTimelineLine,
    saveArtifact,
    apply: async (manifests) => {
      const text = typeof manifests === "string" ? manifests : JSON.stringify(listOf(manifests));
      await namespacedKubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], text);
    },
    waitForRollout: async (workload, withinSeconds = 120) => {
      await namespacedKubectl.run(["rollout", "status", workload, `--timeout=${withinSeconds}s`]);
    },
    waitForTerminations: async (selector = "", withinSeconds = 180) => {
      const condition = `no Pod of ${name} is terminating`;
      await waitUntil({ condition, withinMs: withinSeconds * 1000, everyMs: 500 }, async () =>
        (await pods(selector)).some((pod) => pod.metadata?.deletionTimestamp !== undefined) ? undefined : true,
      );
    },
  };
}

function listOf(objects: readonly KubernetesObject[]): unknown {
  return { apiVersion: "v1", kind: "List", items: objects };
}

/** Waits for the namespace's ServiceAccount, without which Pods are refused. */
async function createNamespace(
  kubectl: Kubectl,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  await kubectl.run(["create", "--filename=-"], JSON.stringify(namespace));
  await waitUntil({ condition: `namespace ${name} has a ServiceAccount`, withinMs: 30_000 }, async () =>
    (await kubectl.attempt(["--namespace", name, "get", "serviceaccount", "default"])).status === 0 ? true : undefined,
  );
}

/** Deletes Pods without a grace period, because the case is over. */
async function deleteNamespace(kubectl: Kubectl, name: string, wait = "--timeout=90s"): Promise<void> {
  if ((await kubectl.attempt(["get", "namespace", name])).status !== 0) return;
  await kubectl.attempt([
    "--namespace",
    name,
    "delete",
    "deployments,statefulsets,jobs,cronjobs",
    "--all",
    "--wait=false",
  ]);
  await kubectl.attempt(["--namespace", name, "delete", "pods", "--all", "--grace-period=1", "--timeout=60s"]);
  await kubectl.run(["delete", "namespace", name, wait]);
}
