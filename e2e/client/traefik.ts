/** Imports a real Traefik, and creates the objects that it needs beside the guide's Deployment. */
import type { KubernetesObject } from "@kubernetes/client-node";
import { makeTmpLayer } from "../images/docker-archive.ts";
import { importGoPrograms } from "./go-programs.ts";
import { kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

export const TRAEFIK_VERSION = "3.7.13";
export const TRAEFIK_NAMESPACE = "traefik";

const IMAGE = `docker.io/library/traefik:v${TRAEFIK_VERSION}`;
const NAME = "traefik";
const LABELS = { "app.kubernetes.io/name": NAME };

export async function importTraefik(suite: Suite): Promise<void> {
  const baseLayers = [makeTmpLayer()];
  await importGoPrograms(suite, "traefik", [{ name: IMAGE, program: NAME, user: "65532:65532", baseLayers }]);
}

/** Creates the namespace, the rights of the provider `kubernetesIngress`, an IngressClass, and the Service of the guide's Pods. */
export async function installTraefik(suite: Suite): Promise<void> {
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: OBJECTS });
  await kubectlOf(suite).run(["apply", "--server-side", "--force-conflicts", "--filename=-"], list);
}

export async function uninstallTraefik(suite: Suite): Promise<void> {
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: [...OBJECTS].reverse() });
  await kubectlOf(suite).attempt(["delete", "--ignore-not-found", "--timeout=120s", "--filename=-"], list);
}

const read = (group: string, ...resources: readonly string[]) => ({
  apiGroups: [group],
  resources,
  verbs: ["get", "list", "watch"],
});

const OBJECTS: readonly (KubernetesObject & Readonly<Record<string, unknown>>)[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: TRAEFIK_NAMESPACE } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace: TRAEFIK_NAMESPACE } },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: NAME },
    rules: [
      read("", "services", "secrets", "configmaps", "nodes", "namespaces"),
      read("discovery.k8s.io", "endpointslices"),
      read("networking.k8s.io", "ingresses", "ingressclasses"),
      { apiGroups: ["networking.k8s.io"], resources: ["ingresses/status"], verbs: ["update"] },
    ],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: NAME },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: NAME },
    subjects: [{ kind: "ServiceAccount", name: NAME, namespace: TRAEFIK_NAMESPACE }],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: NAME },
    spec: { controller: "traefik.io/ingress-controller" },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: NAME, namespace: TRAEFIK_NAMESPACE },
    spec: { selector: LABELS, ports: [{ name: "web", port: 80, targetPort: "web" }] },
  },
];
