/** The demo's application as a Deployment and its Service: it dies at SIGTERM like most do, with requests in its hands. */
import type { KubernetesObject, V1Container, V1Deployment, V1Service } from "@kubernetes/client-node";
import type { CaseNamespace } from "./case-namespace.ts";
import { restricted } from "./load.ts";
import { imageOf } from "./suite.ts";

export const APP = "web";
export const APP_PORT = 8080;

export type SampleOptions = {
  readonly replicas?: number;
  /** Annotations of the Pods, ours among them. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly container?: Partial<V1Container>;
};

/** One Pod on each node, as far as there are nodes; a rollout starts the new Pod before it ends the old one. */
export function sampleApp(namespace: CaseNamespace, options: SampleOptions = {}): readonly KubernetesObject[] {
  const labels = { app: APP };
  const deployment: V1Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: APP, namespace: namespace.name },
    spec: {
      replicas: options.replicas ?? 2,
      selector: { matchLabels: labels },
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels, annotations: { ...options.annotations } },
        spec: {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: labels },
              matchLabelKeys: ["pod-template-hash"],
            },
          ],
          containers: [{ ...appContainer(namespace), ...options.container }],
        },
      },
    },
  };
  const service: V1Service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: APP, namespace: namespace.name },
    spec: { selector: labels, ports: [{ port: 80, targetPort: APP_PORT }] },
  };
  return [deployment, service];
}

function appContainer(namespace: CaseNamespace): V1Container {
  return {
    name: "app",
    image: imageOf(namespace.suite, "lastcall-test-app"),
    imagePullPolicy: "IfNotPresent",
    args: ["/app/sample-app.mjs"],
    ports: [{ containerPort: APP_PORT }],
    readinessProbe: { httpGet: { path: "/healthz", port: APP_PORT }, periodSeconds: 1 },
    securityContext: restricted(),
  };
}
