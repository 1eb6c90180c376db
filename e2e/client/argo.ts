/** Installs Argo Workflows in its own namespace: the real controller and executor, with their CRDs and RBAC. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesObject, V1ConfigMap, V1Deployment } from "@kubernetes/client-node";
import { downloadSource } from "../build/completed-source.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { importGoPrograms } from "./go-programs.ts";
import type { Suite } from "./suite.ts";

const CONTROLLER_IMAGE = "localhost/workflow-controller:test";
const EXECUTOR_IMAGE = "localhost/argoexec:test";
/** The user of Argo's images. */
const ARGO_USER = "8737:8737";
const ARGO_MODULE_PATH = "github.com/argoproj/argo-workflows/v3";
const MODULE_FOLDER = join(import.meta.dirname, "../modules/argo");

/** Paths of Argo's CRDs and RBAC below the folder `manifests`. */
const CRDS_FOLDER = "base/crds/minimal";
const RBAC_FILES = [
  "base/workflow-controller/workflow-controller-sa.yaml",
  "namespace-install/workflow-controller-rbac/workflow-controller-role.yaml",
  "namespace-install/workflow-controller-rbac/workflow-controller-rolebinding.yaml",
  "quick-start/base/executor/emissary/executor-role.yaml",
  "quick-start/base/executor-default-rolebinding.yaml",
];

export function importArgoImages(suite: Suite): Promise<void> {
  return importGoPrograms(suite, "argo", [
    { name: CONTROLLER_IMAGE, program: "workflow-controller", user: ARGO_USER },
    { name: EXECUTOR_IMAGE, program: "argoexec", user: ARGO_USER },
  ]);
}

export type Entrypoints = Readonly<Record<string, readonly string[]>>;

/** @param entrypoints entrypoints of images whose steps have no command, for which the controller would query a registry */
export async function startArgo(namespace: CaseNamespace, entrypoints: Entrypoints): Promise<void> {
  const manifests = join(downloadSource(ARGO_MODULE_PATH, MODULE_FOLDER), "manifests");
  const crdFolder = join(manifests, CRDS_FOLDER);
  await namespace.clusterKubectl.run(["apply", "--server-side", `--kustomize=${crdFolder}`]);
  await namespace.clusterKubectl.run([
    "wait",
    "--for=condition=Established",
    "crd/workflows.argoproj.io",
    "--timeout=60s",
  ]);
  for (const file of RBAC_FILES) await namespace.apply(readFileSync(join(manifests, file), "utf8"));
  await namespace.apply([controllerConfig(entrypoints), controllerDeployment()]);
  await namespace.waitForRollout("deployment/workflow-controller");
}

/** Deletes workflows first, while the controller can still remove their finalizers. */
export async function stopArgo(namespace: CaseNamespace): Promise<void> {
  await namespace.kubectl.attempt(["delete", "workflows.argoproj.io", "--all", "--timeout=60s"]);
  const definitions = join(downloadSource(ARGO_MODULE_PATH, MODULE_FOLDER), "manifests", CRDS_FOLDER);
  await namespace.clusterKubectl.run(["delete", "--ignore-not-found", `--kustomize=${definitions}`, "--timeout=60s"]);
}

function controllerConfig(entrypoints: Entrypoints): V1ConfigMap {
  const images = Object.entries(entrypoints).map(([image, entrypoint]) => [image, { entrypoint }]);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "workflow-controller-configmap" },
    data: { images: JSON.stringify(Object.fromEntries(images)) },
  };
}

function controllerDeployment(): KubernetesObject & V1Deployment {
  const labels = { app: "workflow-controller" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "workflow-controller" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, "lastcall.dev/inject": "disabled" } },
        spec: {
          serviceAccountName: "argo",
          containers: [
            {
              name: "workflow-controller",
              image: CONTROLLER_IMAGE,
              imagePullPolicy: "IfNotPresent",
              args: ["--namespaced", `--executor-image=${EXECUTOR_IMAGE}`, "--executor-image-pull-policy=IfNotPresent"],
              env: [{ name: "LEADER_ELECTION_DISABLE", value: "true" }],
              readinessProbe: { httpGet: { path: "/healthz", port: 6060 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}
