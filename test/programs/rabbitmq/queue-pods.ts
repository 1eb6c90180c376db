/** Builds the Pods of the scenarios. Pure. */
import { NAMESPACE } from "../harness/web-deployment.ts";
import { AMQP_PORT, brokerEnvironment, START_BROKER } from "./broker-start.ts";
import { type BrokerScenario, type ConsumerScenario, JOB_SECONDS, PREFETCH } from "./queue-request.ts";
import { BROKER_ANNOTATIONS } from "./queue-scenarios.ts";

export type ConsumerParts = {
  readonly python: string;
  readonly pythonPath: string;
  readonly program: string;
  readonly broker: string;
  readonly queue: string;
};

export function consumerPod(scenario: ConsumerScenario, parts: ConsumerParts): object {
  return buildPod(parts.queue, scenario.annotations, scenario.graceSeconds, {
    image: "example.org/consumer:1",
    command: [parts.python, parts.program],
    env: toEnv({
      PYTHONPATH: parts.pythonPath,
      PYTHONDONTWRITEBYTECODE: "1",
      BROKER: parts.broker,
      QUEUE: parts.queue,
      PREFETCH: String(PREFETCH),
      JOB_SECONDS: String(JOB_SECONDS),
      ON_SIGTERM: scenario.onSigterm,
      STATUS_ON: scenario.statusOn,
    }),
  });
}

const BROKER_GRACE_SECONDS = 60;

export function brokerPod(scenario: BrokerScenario, name: string, folder: string): object {
  const environment = brokerEnvironment(folder);
  const hook =
    scenario.ownHook === undefined
      ? {}
      : { lifecycle: { preStop: { exec: { command: ["sh", "-c", scenario.ownHook] } } } };
  return buildPod(name, BROKER_ANNOTATIONS, BROKER_GRACE_SECONDS, {
    image: "docker.io/library/rabbitmq:3.10",
    command: ["sh", "-c", START_BROKER],
    env: toEnv(environment),
    ports: [{ name: "amqp", containerPort: AMQP_PORT, protocol: "TCP" }],
    readinessProbe: { tcpSocket: { port: AMQP_PORT }, periodSeconds: 1 },
    ...hook,
  });
}

function buildPod(
  name: string,
  annotations: Readonly<Record<string, string>>,
  graceSeconds: number,
  container: object,
): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: NAMESPACE, annotations },
    spec: { terminationGracePeriodSeconds: graceSeconds, containers: [{ name: "app", ...container }] },
  };
}

function toEnv(environment: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(environment).map(([name, value]) => ({ name, value }));
}
