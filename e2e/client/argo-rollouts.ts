/** Installs the real controller of Argo Rollouts, and runs the sample app as a Rollout. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { downloadSource } from "../build/completed-source.ts";
import { waitUntil } from "../host/wait.ts";
import { makeTmpLayer } from "../images/docker-archive.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { importGoPrograms } from "./go-programs.ts";
import { kubectlIn, kubectlOf } from "./kubectl.ts";
import { APP, type SampleOptions, sampleService, sampleTemplate } from "./sample-app.ts";
import type { Suite } from "./suite.ts";

const ARGO_ROLLOUTS_VERSION = "1.10.1";

const NAMESPACE = "argo-rollouts";
const MODULE_PATH = "github.com/argoproj/argo-rollouts";
const MODULE_FOLDER = join(import.meta.dirname, "../modules/argo-rollouts");
/** The image in Argo's manifest, with the tag of the release instead of `latest`. */
const IMAGE = `quay.io/argoproj/argo-rollouts:v${ARGO_ROLLOUTS_VERSION}`;
const REPLICAS = 2;

export async function importArgoRollouts(suite: Suite): Promise<void> {
  const baseLayers = [makeTmpLayer()];
  await importGoPrograms(suite, "argo-rollouts", [
    { name: IMAGE, program: "rollouts-controller", user: "999:999", baseLayers },
  ]);
}

export async function installArgoRollouts(suite: Suite): Promise<void> {
  const kubectl = kubectlOf(suite);
  await kubectl.attempt(["create", "namespace", NAMESPACE]);
  const argoKubectl = kubectlIn(kubectl, NAMESPACE);
  await argoKubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], readManifest());
  await argoKubectl.run(["rollout", "status", "deployment/argo-rollouts", "--timeout=120s"]);
}

export async function uninstallArgoRollouts(suite: Suite): Promise<void> {
  const flags = ["--ignore-not-found", "--timeout=120s", "--filename=-"];
  await kubectlIn(kubectlOf(suite), NAMESPACE).attempt(["delete", ...flags], readManifest());
  await kubectlOf(suite).attempt(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=60s"]);
}

function readManifest(): string {
  const file = join(downloadSource(MODULE_PATH, MODULE_FOLDER), "manifests/install.yaml");
  return readFileSync(file, "utf8")
    .replace("quay.io/argoproj/argo-rollouts:latest", IMAGE)
    .replace("imagePullPolicy: Always", "imagePullPolicy: IfNotPresent");
}

type Rollout = KubernetesObject & {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly observedGeneration?: string;
    readonly currentPodHash?: string;
    readonly stableRS?: string;
  };
};

/** @param strategy the Rollout's `strategy` */
export function sampleRollout(
  namespace: CaseNamespace,
  strategy: Readonly<Record<string, unknown>>,
  options: SampleOptions = {},
): readonly KubernetesObject[] {
  const rollout: Rollout = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Rollout",
    metadata: { name: APP, namespace: namespace.name },
    spec: {
      replicas: REPLICAS,
      selector: { matchLabels: { app: APP } },
      strategy,
      template: sampleTemplate(namespace, options, "rollouts-pod-template-hash"),
    },
  };
  return [rollout, sampleService(namespace)];
}

/** Resolves when every Pod is of the newest revision, and all other Pods are deleted. */
export async function waitForArgoRollout(namespace: CaseNamespace): Promise<void> {
  await waitUntil({ condition: "the Rollout is healthy", withinMs: 300_000, everyMs: 500 }, async () => {
    const { metadata, status } = await namespace.kubectl.json<Rollout>(["get", "rollouts.argoproj.io", APP]);
    if (status?.phase === "Degraded") throw new Error(`The Rollout is degraded: ${status.message}`);
    const isObserved = status?.observedGeneration === String(metadata?.generation);
    const isHealthy = status?.phase === "Healthy" && status.currentPodHash === status.stableRS;
    return isObserved && isHealthy ? true : undefined;
  });
  await waitUntil({ condition: "only the new Pods exist", withinMs: 300_000, everyMs: 500 }, async () =>
    (await namespace.pods(`app=${APP}`)).length === REPLICAS ? true : undefined,
  );
}

/** Changes the Pod template, and waits until the Rollout is complete. */
export async function updateArgoRollout(namespace: CaseNamespace, revision: string): Promise<void> {
  const template = { metadata: { annotations: { revision } } };
  const patch = JSON.stringify({ spec: { template } });
  await namespace.kubectl.run(["patch", "rollouts.argoproj.io", APP, "--type=merge", `--patch=${patch}`]);
  await waitForArgoRollout(namespace);
}
