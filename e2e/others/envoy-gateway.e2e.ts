/** Rolls the Envoys of a real Envoy Gateway under load: with its own shutdown manager, with lastcall, with both, and with neither. */
import type { KubernetesObject, V1Deployment, V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentsOf, readGuide } from "../../test/guides/manifests.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { isInjected } from "../client/create-pods.ts";
import { startDns } from "../client/dns.ts";
import {
  ENVOY_GATEWAY_NAMESPACE,
  ENVOY_GATEWAY_VERSION,
  ENVOY_IMAGE,
  ENVOY_VERSION,
  importEnvoyGateway,
  installEnvoyGateway,
  uninstallEnvoyGateway,
} from "../client/envoy-gateway.ts";
import { startGatewayLoad } from "../client/gateway-load.ts";
import { backendObjects, LISTENER_PORTS, routesOf } from "../client/gateway-objects.ts";
import { type Ending, recordGatewayResult } from "../client/gateway-results.ts";
import { report } from "../client/guide-on-cluster.ts";
import { type Kubectl, kubectlOf } from "../client/kubectl.ts";
import { observeTerminations, residentBytes } from "../client/measured-pods.ts";
import { MANAGER } from "../client/pod-log.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS } from "../client/under-load.ts";
import { waitUntil } from "../host/wait.ts";
import { LOAD_KINDS, type LoadKind } from "../programs/gateway-load-kinds.ts";

const suite = readSuite(process.env);
const NAMESPACE = "shop";
const GATEWAY = "shop";
const SELECTOR = `gateway.envoyproxy.io/owning-gateway-name=${GATEWAY}`;
const OWN_MANAGER = "shutdown-manager";
const MIB = 1_048_576;
const ENDINGS: readonly Ending[] = ["own", "lastcall", "both", "neither"];
const KINDS = Object.keys(LOAD_KINDS) as readonly LoadKind[];

const system = kubectlIn(kubectlOf(suite), ENVOY_GATEWAY_NAMESPACE);

beforeAll(async () => {
  await startDns(suite);
  await importEnvoyGateway(suite);
  await installEnvoyGateway(suite);
}, 1_800_000);
afterAll(() => uninstallEnvoyGateway(suite), 300_000);

describe("a rollout of Envoy Gateway's Envoys", () => {
  test.each(ENDINGS)(
    "ended by %s is measured under each load, and loses no request with lastcall",
    async (ending) => {
      await inNamespace(suite, NAMESPACE, { timeline: "pods" }, async (namespace) => {
        await applyGateway(namespace, ending);
        for (const load of KINDS) {
          const { failed, requests } = await measure(namespace, ending, load);
          expect(requests, load).toBeGreaterThan(load === "idle" ? 0 : MIN_REQUESTS);
          if (ending === "lastcall") expect(failed, load).toBe(0);
        }
        await deleteGateway(namespace);
      });
    },
    3_600_000,
  );
});

/** Applies the guide's manifest, with the Envoy of this suite and listeners for every kind of route. */
async function applyGateway(namespace: CaseNamespace, ending: Ending): Promise<void> {
  const objects = documentsOf(readGuide("envoy-gateway").manifest) as readonly KubernetesObject[];
  const changed = objects.map((object) => {
    if (object.kind === "EnvoyProxy") return withEnding(object, ending);
    return object.kind === "Gateway" ? withListeners(object) : object;
  });
  await namespace.apply(backendObjects(namespace));
  await namespace.waitForRollout("deployment/backend");
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: changed });
  await namespace.clusterKubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], list);
  await namespace.apply(routesOf(GATEWAY));
  const deployment = await waitUntil({ condition: "Envoy Gateway has created its Deployment", withinMs: 60_000 }, () =>
    findDeployment(),
  );
  await system.run(["rollout", "status", `deployment/${deployment}`, "--timeout=180s"]);
}

async function deleteGateway(namespace: CaseNamespace): Promise<void> {
  await namespace.kubectl.run(["delete", "gateway", GATEWAY, "--timeout=60s"]);
  await waitUntil({ condition: "Envoy Gateway has deleted its Pods", withinMs: 180_000, everyMs: 1_000 }, async () =>
    (await listPods()).length === 0 ? true : undefined,
  );
}

type EnvoyDeployment = {
  container?: { image: string };
  pod: { labels: Record<string, string>; annotations?: Record<string, string> };
  patch?: unknown;
};

function withEnding(object: KubernetesObject, ending: Ending): KubernetesObject {
  const proxy = structuredClone(object) as KubernetesObject & {
    spec: { provider: { kubernetes: { envoyDeployment: EnvoyDeployment } } };
  };
  const deployment = proxy.spec.provider.kubernetes.envoyDeployment;
  deployment.container = { image: ENVOY_IMAGE };
  const hasLastcall = ending === "lastcall" || ending === "both";
  if (!hasLastcall) deployment.pod.labels = { "lastcall.dev/inject": "disabled" };
  if (ending === "both")
    deployment.pod.annotations = { "lastcall.dev/prestop": "keep", "lastcall.dev/driver": "envoy" };
  if (ending === "neither") deployment.patch = { type: "StrategicMerge", value: WITHOUT_HOOKS };
  return proxy;
}

const WITHOUT_HOOKS = {
  spec: {
    template: {
      spec: {
        containers: ["envoy", OWN_MANAGER].map((name) => ({ name, lifecycle: { $patch: "delete" } })),
      },
    },
  },
};

function withListeners(object: KubernetesObject): KubernetesObject {
  const protocols = { http: "HTTP", grpc: "HTTP", tcp: "TCP" } as const;
  const listeners = Object.entries(LISTENER_PORTS).map(([name, port]) => ({
    name,
    port,
    protocol: protocols[name as keyof typeof protocols],
  }));
  const gateway = object as KubernetesObject & { spec: object };
  return { ...gateway, spec: { ...gateway.spec, listeners } } as KubernetesObject;
}

async function measure(namespace: CaseNamespace, ending: Ending, load: LoadKind) {
  const pods = await listPods();
  for (const pod of pods) expect(isInjected(pod), pod.metadata?.name).toBe(ending === "lastcall" || ending === "both");
  const host = await system.run([
    "get",
    "services",
    `--selector=${SELECTOR}`,
    "--output=jsonpath={.items[0].spec.clusterIP}",
  ]);
  const stopLoad = await startGatewayLoad(namespace, load, { host, port: portOf(load) });
  const [ownBytes, lastcallBytes] = await Promise.all(
    [OWN_MANAGER, MANAGER].map((container) => residentBytes(namespace.clusterKubectl, suite.nodes, pods, container)),
  );
  const terminations = observeTerminations(system, pods);
  const deployment = `deployment/${await findDeployment()}`;
  await system.run(["rollout", "restart", deployment]);
  await system.run(["rollout", "status", deployment, "--timeout=240s"]);
  const ended = await terminations();
  await waitUntil({ condition: "the replaced Pods are deleted", withinMs: 120_000, everyMs: 500 }, async () =>
    (await listPods()).length === pods.length ? true : undefined,
  );
  const counts = await stopLoad();
  const result = {
    gateway: "Envoy Gateway",
    versions: `Envoy Gateway ${ENVOY_GATEWAY_VERSION}, Envoy ${ENVOY_VERSION}`,
    date: new Date().toISOString().slice(0, 10),
    ending,
    load,
    requests: counts.requests,
    failed: counts.failed,
    longestSeconds: Math.max(...ended.map(({ seconds }) => seconds)),
    longestOverWaitSeconds: Math.max(...ended.map(({ overWaitSeconds }) => overWaitSeconds)),
    ownMiB: ownBytes === undefined ? undefined : ownBytes / MIB,
    lastcallMiB: lastcallBytes === undefined ? undefined : lastcallBytes / MIB,
  };
  recordGatewayResult(result);
  report(namespace, JSON.stringify({ ...result, failures: [...new Set(counts.failures)].slice(0, 4) }));
  return counts;
}

function portOf(load: LoadKind): number {
  if (load === "grpc") return LISTENER_PORTS.grpc;
  return load === "tcp" ? LISTENER_PORTS.tcp : LISTENER_PORTS.http;
}

async function findDeployment(): Promise<string | undefined> {
  const { items } = await system.json<{ readonly items: readonly V1Deployment[] }>([
    "get",
    "deployments",
    `--selector=${SELECTOR}`,
  ]);
  return items[0]?.metadata?.name;
}

async function listPods() {
  return (await system.json<{ readonly items: readonly V1Pod[] }>(["get", "pods", `--selector=${SELECTOR}`])).items;
}

function kubectlIn(kubectl: Kubectl, namespace: string): Kubectl {
  const withNamespace = (args: readonly string[]) => ["--namespace", namespace, ...args];
  return {
    run: (args, input) => kubectl.run(withNamespace(args), input),
    attempt: (args, input) => kubectl.attempt(withNamespace(args), input),
    json: (args, input) => kubectl.json(withNamespace(args), input),
    follow: (args, onLine) => kubectl.follow(withNamespace(args), onLine),
  };
}
