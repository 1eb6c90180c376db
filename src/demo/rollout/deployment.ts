/** The Deployment that is rolled: the sample's or a user's, and the Pods made from it. Pure. */
import { listAt, numberAt, objectAt, textAt } from "../json.ts";
import { STOP_SIGNALS, stopSignalOf } from "../pods/kubelet-rules.ts";
import { containersWithoutCommand } from "../pods/pod-plan.ts";

type SampleChoices = {
  /** The words that start the sample application. */
  readonly command: readonly string[];
  /** Where Pods share a network each must listen on its own address. */
  readonly listensOnPodAddress: boolean;
  readonly replicas: number;
};

const SAMPLE_PORT = 8_080;

export function sampleDeployment(choices: SampleChoices): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "hello", namespace: "demo" },
    spec: {
      replicas: choices.replicas,
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
              command: choices.command,
              ports: [{ name: "http", containerPort: SAMPLE_PORT, protocol: "TCP" }],
              env: [
                { name: "PORT", value: String(SAMPLE_PORT) },
                ...(choices.listensOnPodAddress
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

/** Annotations of the driver `http` for the sample application. */
export const SAMPLE_DRIVER: Readonly<Record<string, string>> = {
  "lastcall.dev/driver": "http",
  "lastcall.dev/drain-url": `http://127.0.0.1:${SAMPLE_PORT}/drain`,
  "lastcall.dev/active-url": `http://127.0.0.1:${SAMPLE_PORT}/active`,
};

/** Adds annotations to the Pod template; what is written there already wins. */
export function annotated(deployment: object, annotations: Readonly<Record<string, string>>): object {
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

/** Problems that keep a user's Deployment from running here, each as a sentence. */
export function deploymentProblems(deployment: object): string[] {
  const name = textAt(deployment, "metadata", "name") ?? "";
  if (textAt(deployment, "kind") !== "Deployment") return ["The file holds no Deployment."];
  const pod = podOf(deployment, "");
  const problems = containersWithoutCommand(pod).map(
    (container) =>
      `Container ${container} of Deployment ${name} names no command; images are not run here, so write one.`,
  );
  for (const container of listAt(pod, "spec", "containers")) {
    const signal = textAt(container, "lifecycle", "stopSignal");
    if (signal === undefined || stopSignalOf(signal) !== undefined) continue;
    const where = `Container ${textAt(container, "name") ?? ""} of Deployment ${name}`;
    problems.push(`${where} has the stopSignal ${signal}, expected one of ${STOP_SIGNALS.join(", ")}.`);
  }
  if (listAt(pod, "spec", "containers").length === 0) problems.push(`Deployment ${name} has no containers.`);
  const port = servicePort(deployment);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    problems.push(`Deployment ${name} names containerPort ${port}, expected 1 to 65535.`);
  if (port === 0) {
    problems.push(`Deployment ${name} names no port; add a containerPort to the container that takes requests.`);
  }
  return problems;
}

/** Where the Service sends requests: the first declared port; 0 when there is none. */
export function servicePort(deployment: object): number {
  for (const container of listAt(deployment, "spec", "template", "spec", "containers")) {
    for (const port of listAt(container, "ports")) {
      const number = numberAt(port, "containerPort");
      if (number !== undefined && (textAt(port, "protocol") ?? "TCP") === "TCP") return number;
    }
  }
  return 0;
}

/** At most 5: every Pod is several processes on this one machine. */
export function replicasOf(deployment: object): number {
  return Math.min(5, Math.max(1, numberAt(deployment, "spec", "replicas") ?? 1));
}

/** Where its Pods and its Service are, and what both are called after. */
export function placeOf(deployment: object): { readonly namespace: string; readonly name: string } {
  return {
    namespace: textAt(deployment, "metadata", "namespace") ?? "default",
    name: textAt(deployment, "metadata", "name") ?? "app",
  };
}

/** A Pod as the ReplicaSet controller creates it, with the defaults the API server fills in before admission. */
export function podOf(deployment: object, revision: string): object {
  const { namespace, name } = placeOf(deployment);
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

/** What the API server adds after admission. */
export function namedPod(pod: object, suffix: string, uid: string): object {
  const metadata = objectAt(pod, "metadata");
  return { ...pod, metadata: { ...metadata, name: `${textAt(metadata, "generateName") ?? "pod-"}${suffix}`, uid } };
}
