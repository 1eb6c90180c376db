/** Builds the sample Deployment, and the Pods of a Deployment. Pure. */
import { listAt, numberAt, objectAt, textAt } from "../json.ts";

type SampleAppOptions = {
  readonly command: readonly string[];
  /** Required if Pods share a network namespace. */
  readonly listensOnPodAddress: boolean;
  readonly replicas: number;
};

const SAMPLE_PORT = 8_080;

export function sampleDeployment(options: SampleAppOptions): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "hello", namespace: "demo" },
    spec: {
      replicas: options.replicas,
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: { app: "hello" } },
      template: {
        metadata: { labels: { app: "hello" } },
        spec: {
          terminationGracePeriodSeconds: 10,
          containers: [
            {
              name: "app",
              image: "example.org/hello:1",
              command: options.command,
              ports: [{ name: "http", containerPort: SAMPLE_PORT, protocol: "TCP" }],
              env: [
                { name: "PORT", value: String(SAMPLE_PORT) },
                ...(options.listensOnPodAddress
                  ? [{ name: "LISTEN_ON", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } }]
                  : []),
              ],
              readinessProbe: { httpGet: { path: "/healthz", port: "http", scheme: "HTTP" }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}

export const SAMPLE_DRIVER: Readonly<Record<string, string>> = {
  "lastcall.dev/driver": "http",
  "lastcall.dev/drain-url": `http://127.0.0.1:${SAMPLE_PORT}/drain`,
  "lastcall.dev/active-url": `http://127.0.0.1:${SAMPLE_PORT}/active`,
};

export function withAnnotations(deployment: object, annotations: Readonly<Record<string, string>>): object {
  const spec = objectAt(deployment, "spec");
  const template = objectAt(spec, "template");
  const metadata = objectAt(template, "metadata");
  return {
    ...deployment,
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: { ...metadata, annotations: { ...annotations, ...objectAt(metadata, "annotations") } },
      },
    },
  };
}

/** Adds a preStop hook that sleeps to each container without a hook. */
export function withSleepHooks(deployment: object, seconds: number): object {
  const spec = objectAt(deployment, "spec");
  const template = objectAt(spec, "template");
  const podSpec = objectAt(template, "spec");
  const containers = listAt(podSpec, "containers").map((container) => {
    const lifecycle = objectAt(container, "lifecycle");
    if (typeof container !== "object" || "preStop" in lifecycle) return container;
    return { ...container, lifecycle: { ...lifecycle, preStop: { sleep: { seconds } } } };
  });
  return { ...deployment, spec: { ...spec, template: { ...template, spec: { ...podSpec, containers } } } };
}

/** Target port of the Service: the first containerPort with TCP; 0 if there is none. */
export function servicePort(deployment: object): number {
  const ports = listAt(deployment, "spec", "template", "spec", "containers").flatMap((container) =>
    listAt(container, "ports"),
  );
  const isTcpPort = (port: unknown) =>
    numberAt(port, "containerPort") !== undefined && (textAt(port, "protocol") ?? "TCP") === "TCP";
  return numberAt(ports.find(isTcpPort), "containerPort") ?? 0;
}

/** At most 5: each Pod runs several processes on this machine. */
export function replicasOf(deployment: object): number {
  return Math.min(5, Math.max(1, numberAt(deployment, "spec", "replicas") ?? 1));
}

export function identityOf(deployment: object): { readonly namespace: string; readonly name: string } {
  return {
    namespace: textAt(deployment, "metadata", "namespace") ?? "default",
    name: textAt(deployment, "metadata", "name") ?? "app",
  };
}

export function podOf(deployment: object, revision: string): object {
  const { namespace, name } = identityOf(deployment);
  const template = objectAt(deployment, "spec", "template");
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...objectAt(template, "metadata"),
      generateName: `${name}-${revision}-`,
      namespace,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${name}-${revision}`, uid: revision, controller: true },
      ],
    },
    spec: { restartPolicy: "Always", terminationGracePeriodSeconds: 30, ...objectAt(template, "spec") },
  };
}

export function withName(pod: object, suffix: string, uid: string): object {
  const metadata = objectAt(pod, "metadata");
  return { ...pod, metadata: { ...metadata, name: `${textAt(metadata, "generateName") ?? "pod-"}${suffix}`, uid } };
}
