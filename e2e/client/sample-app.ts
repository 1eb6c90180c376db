/** Builds manifests of the cases' application, which logs its lifecycle and exits immediately at SIGTERM, even with open requests. */
import type {
  KubernetesObject,
  V1Container,
  V1Deployment,
  V1DeploymentStrategy,
  V1Pod,
  V1PodSpec,
  V1PodTemplateSpec,
  V1Service,
  V1StatefulSet,
} from "@kubernetes/client-node";
import { NODE_PROGRAM } from "../images/image-table.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { restrictedSecurityContext } from "./load.ts";
import { imageOf } from "./suite.ts";

export const APP = "web";
export const APP_PORT = 8080;

const LABELS = { app: APP };

/** Settings of the app, which responds with `Connection: close` after a request to its path /drain. */
export const HTTP_DRIVER_ANNOTATIONS = {
  "lastcall.dev/drain-url": "http://127.0.0.1:8080/drain",
  "lastcall.dev/active-url": "http://127.0.0.1:8080/active",
};

export type SampleOptions = {
  readonly replicas?: number;
  /** Annotations of the Pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly container?: Partial<V1Container>;
  readonly pod?: Partial<V1PodSpec>;
  readonly strategy?: V1DeploymentStrategy;
};

/** A Deployment with one Pod per node; a rollout starts each new Pod before it deletes an old Pod. */
export function sampleApp(namespace: CaseNamespace, options: SampleOptions = {}): readonly KubernetesObject[] {
  const deployment: V1Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: APP, namespace: namespace.name },
    spec: {
      replicas: options.replicas ?? 2,
      selector: { matchLabels: LABELS },
      strategy: options.strategy ?? { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: sampleTemplate(namespace, options, "pod-template-hash"),
    },
  };
  return [deployment, sampleService(namespace)];
}

/** The app's readiness probe does not open a connection, because a connection that the stopping app refuses counts as a reset. */
export function appWithShutdown(shutdown: "graceful" | "reset", options: SampleOptions = {}): SampleOptions {
  const startupProbe = { httpGet: { path: "/healthz", port: APP_PORT }, periodSeconds: 1, failureThreshold: 60 };
  const container = {
    env: [{ name: "SHUTDOWN", value: shutdown }],
    startupProbe,
    readinessProbe: { exec: { command: [NODE_PROGRAM, "-e", ""] } },
  };
  return { container, ...options };
}

/** A StatefulSet with one Pod per node; a rollout deletes each Pod before its successor starts. */
export function sampleStatefulSet(namespace: CaseNamespace, options: SampleOptions = {}): readonly KubernetesObject[] {
  const statefulSet: V1StatefulSet = {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: APP, namespace: namespace.name },
    spec: {
      replicas: options.replicas ?? 2,
      serviceName: APP,
      selector: { matchLabels: LABELS },
      template: sampleTemplate(namespace, options, "controller-revision-hash"),
    },
  };
  return [statefulSet, sampleService(namespace)];
}

export type PodOptions = Pick<SampleOptions, "annotations" | "pod"> & {
  readonly labels?: Readonly<Record<string, string>>;
};

/** A Pod without a controller. */
export function barePod(
  namespace: CaseNamespace,
  name: string,
  containers: readonly V1Container[],
  { annotations, labels, pod }: PodOptions = {},
): V1Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: namespace.name, labels: { ...labels }, annotations: { ...annotations } },
    spec: { containers: [...containers], ...pod },
  };
}

/** The application as a container of a Pod. */
export function appContainer(namespace: CaseNamespace, changes: Partial<V1Container> = {}): V1Container {
  return {
    ...nodeContainer(namespace, "app", ["/app/lifecycle-app.mjs"]),
    ports: [{ containerPort: APP_PORT }],
    readinessProbe: { httpGet: { path: "/healthz", port: APP_PORT }, periodSeconds: 1 },
    ...changes,
  };
}

/** A container that runs Node with the given arguments, such as `["-e", "setTimeout(() => {}, 2000)"]`. */
export function nodeContainer(namespace: CaseNamespace, name: string, args: readonly string[]): V1Container {
  return {
    name,
    image: imageOf(namespace.suite, "lastcall-test-app"),
    imagePullPolicy: "IfNotPresent",
    args: [...args],
    securityContext: restrictedSecurityContext(),
  };
}

export function sampleTemplate(
  namespace: CaseNamespace,
  options: SampleOptions,
  revisionLabel: string,
): V1PodTemplateSpec {
  return {
    metadata: { labels: LABELS, annotations: { ...options.annotations } },
    spec: {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "kubernetes.io/hostname",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: LABELS },
          matchLabelKeys: [revisionLabel],
        },
      ],
      containers: [appContainer(namespace, options.container)],
      ...options.pod,
    },
  };
}

export function sampleService(namespace: CaseNamespace): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: APP, namespace: namespace.name },
    spec: { selector: LABELS, ports: [{ port: 80, targetPort: APP_PORT }] },
  };
}
