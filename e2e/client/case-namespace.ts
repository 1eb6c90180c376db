/** A namespace for one case: made, watched, written down and deleted. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesListObject, KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { waitUntil } from "../host/wait.ts";
import { type Kubectl, kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";
import { recordTimeline } from "./timeline.ts";

export type CaseNamespace = {
  readonly name: string;
  readonly suite: Suite;
  /** Without `--namespace`; for the cluster's own objects. */
  readonly kubectl: Kubectl;
  /** kubectl in this namespace. */
  readonly here: Kubectl;
  /** Applies manifests; what they do not say lands in this namespace. */
  readonly apply: (manifests: string | readonly KubernetesObject[]) => Promise<void>;
  /** Pods that carry the label, terminating ones among them. */
  readonly pods: (selector?: string) => Promise<readonly V1Pod[]>;
  /** Waits for a rollout to be complete. */
  readonly rolledOut: (workload: string, withinSeconds?: number) => Promise<void>;
  /** Waits until no Pod with the label is on its way out: a rollout is complete before its old Pods are gone. */
  readonly settled: (selector?: string, withinSeconds?: number) => Promise<void>;
  /** A line of the case's own in its timeline. */
  readonly note: (line: string) => void;
  /** A file among the case's artifacts. */
  readonly keep: (file: string, content: string) => void;
};

export type NamespaceOptions = {
  readonly labels?: Readonly<Record<string, string>>;
  /** `logs` unless it is said. */
  readonly timeline?: "pods" | "logs";
};

/** Runs the case; whatever comes of it, its timeline is kept and the namespace deleted. */
export async function inNamespace(
  suite: Suite,
  name: string,
  options: NamespaceOptions,
  work: (namespace: CaseNamespace) => Promise<void>,
): Promise<void> {
  const kubectl = kubectlOf(suite);
  const folder = join(suite.artifacts, name);
  mkdirSync(folder, { recursive: true });
  await deleteNamespace(kubectl, name);
  await makeNamespace(kubectl, name, options.labels ?? {});
  const timeline = recordTimeline({ kubectl, namespace: name, depth: options.timeline ?? "logs" });
  const keep = (file: string, content: string) => writeFileSync(join(folder, file), content);
  try {
    await work(caseNamespace({ suite, kubectl, name, note: timeline.note, keep }));
    timeline.note("the case passed");
  } catch (error) {
    timeline.note(`the case failed: ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  } finally {
    const pods = await kubectl.attempt(["--namespace", name, "get", "pods", "--output=yaml"]);
    keep("pods.yaml", pods.output);
    keep("timeline.txt", `${(await timeline.end()).join("\n")}\n`);
    // Empty namespaces go 5 s later, and no other case wants this one.
    await deleteNamespace(kubectl, name, "--wait=false");
  }
}

type Making = Pick<CaseNamespace, "suite" | "kubectl" | "name" | "note" | "keep">;

function caseNamespace({ suite, kubectl, name, note, keep }: Making): CaseNamespace {
  const within = (args: readonly string[]) => ["--namespace", name, ...args];
  const here: Kubectl = {
    run: (args, input) => kubectl.run(within(args), input),
    attempt: (args, input) => kubectl.attempt(within(args), input),
    json: (args, input) => kubectl.json(within(args), input),
    follow: (args, onLine) => kubectl.follow(within(args), onLine),
  };
  const pods = async (selector = "") =>
    (await here.json<KubernetesListObject<V1Pod>>(["get", "pods", `--selector=${selector}`])).items;
  return {
    name,
    suite,
    kubectl,
    here,
    pods,
    note,
    keep,
    apply: async (manifests) => {
      const text = typeof manifests === "string" ? manifests : JSON.stringify(listOf(manifests));
      await here.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], text);
    },
    rolledOut: async (workload, withinSeconds = 120) => {
      await here.run(["rollout", "status", workload, `--timeout=${withinSeconds}s`]);
    },
    settled: async (selector = "", withinSeconds = 180) => {
      const what = `no Pod of ${name} is terminating`;
      await waitUntil({ what, withinMs: withinSeconds * 1000, everyMs: 500 }, async () =>
        (await pods(selector)).some((pod) => pod.metadata?.deletionTimestamp !== undefined) ? undefined : true,
      );
    },
  };
}

function listOf(objects: readonly KubernetesObject[]): unknown {
  return { apiVersion: "v1", kind: "List", items: objects };
}

/** Pods are refused until the namespace has its ServiceAccount. */
async function makeNamespace(kubectl: Kubectl, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  await kubectl.run(["create", "--filename=-"], JSON.stringify(namespace));
  await waitUntil({ what: `namespace ${name} has a ServiceAccount`, withinMs: 30_000 }, async () =>
    (await kubectl.attempt(["--namespace", name, "get", "serviceaccount", "default"])).status === 0 ? true : undefined,
  );
}

/** Pods go at once: nothing of a case matters after it. */
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
