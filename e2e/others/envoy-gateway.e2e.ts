/** Rolls the Envoys of a real Envoy Gateway under load: with its own shutdown manager, with lastcall, with both, and with neither. */
import type { KubernetesObject, V1Deployment } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, test } from "vitest";
import { documentsOf, readGuide } from "../../test/guides/manifests.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { startDns } from "../client/dns.ts";
import {
  ENVOY_GATEWAY_NAMESPACE,
  ENVOY_GATEWAY_VERSION,
  ENVOY_IMAGE,
  importEnvoyGateway,
  installEnvoyGateway,
  uninstallEnvoyGateway,
} from "../client/envoy-gateway.ts";
import { ENVOY_VERSION } from "../client/envoy-image.ts";
import { ENDINGS, type Ending, podSettingsOf } from "../client/gateway-endings.ts";
import { type GatewayTarget, loadsOf } from "../client/gateway-load.ts";
import { backendObjects, LISTENER_PORTS, routesOf } from "../client/gateway-objects.ts";
import { kubectlIn, kubectlOf } from "../client/kubectl.ts";
import { type Gateway, measureRollout, podsOf } from "../client/measure-rollout.ts";
import { ENVOY } from "../client/measured-pods.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";
import type { LoadKind } from "../programs/gateway-load-kinds.ts";

const suite = readSuite(process.env);
const NAMESPACE = "shop";
const GATEWAY = "shop";
const SELECTOR = `gateway.envoyproxy.io/owning-gateway-name=${GATEWAY}`;
const OWN_MANAGER = "shutdown-manager";

const system = kubectlIn(kubectlOf(suite), ENVOY_GATEWAY_NAMESPACE);
const ENVOYS = {
  gateway: "Envoy Gateway",
  versions: `Envoy Gateway ${ENVOY_GATEWAY_VERSION}, Envoy ${ENVOY_VERSION}`,
  guide: "envoy-gateway",
  podNamespace: ENVOY_GATEWAY_NAMESPACE,
  kubectl: system,
  selector: SELECTOR,
  proxy: ENVOY,
  ownManager: OWN_MANAGER,
};

beforeAll(async () => {
  await startDns(suite);
  await importEnvoyGateway(suite);
  await installEnvoyGateway(suite);
}, 1_800_000);
afterAll(() => uninstallEnvoyGateway(suite), 300_000);

describe("a rollout of Envoy Gateway's Envoys", () => {
  test.each(ENDINGS)(
    "ended by %s is measured under each load, and does not lose a request with lastcall",
    async (ending) => {
      await inNamespace(suite, NAMESPACE, { timeline: "pods" }, async (namespace) => {
        const deployment = await applyGateway(namespace, ending);
        const gateway: Gateway = { ...ENVOYS, deployment };
        for (const load of loadsOf(suite)) await measureRollout(namespace, gateway, ending, load, await targetOf(load));
        await deleteGateway(namespace);
      });
    },
    3_600_000,
  );
});

/** Applies the guide's manifest, with the Envoy of this suite and listeners for every kind of route. @returns the Deployment's name */
async function applyGateway(namespace: CaseNamespace, ending: Ending): Promise<string> {
  const objects = documentsOf(readGuide("envoy-gateway").manifest) as readonly KubernetesObject[];
  const changed = objects.map((object) => {
    if (object.kind === "EnvoyProxy") return withEnding(object, ending);
    return object.kind === "Gateway" ? withListeners(object) : object;
  });
  await waitUntil(
    { condition: "no Envoy of an earlier Gateway exists", withinMs: 420_000, everyMs: 1_000 },
    async () => ((await podsOf(ENVOYS)).length === 0 ? true : undefined),
  );
  await namespace.apply(backendObjects(namespace));
  await namespace.waitForRollout("deployment/backend");
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: changed });
  await namespace.clusterKubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], list);
  await namespace.apply(routesOf(GATEWAY));
  const deployment = await waitUntil({ condition: "Envoy Gateway has created its Deployment", withinMs: 60_000 }, () =>
    findDeployment(),
  );
  await system.run(["rollout", "status", `deployment/${deployment}`, "--timeout=180s"]);
  return deployment;
}

async function deleteGateway(namespace: CaseNamespace): Promise<void> {
  await namespace.kubectl.run(["delete", "gateway", GATEWAY, "--timeout=60s"]);
  await waitUntil({ condition: "Envoy Gateway has deleted its Pods", withinMs: 180_000, everyMs: 1_000 }, async () =>
    (await podsOf(ENVOYS)).length === 0 ? true : undefined,
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
  const settings = podSettingsOf(ending);
  deployment.pod = { ...settings, labels: { ...deployment.pod.labels, ...settings.labels } };
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
  const protocols = { http: "HTTP", grpc: "HTTP", tcp: "TCP", udp: "UDP" } as const;
  const listeners = Object.entries(LISTENER_PORTS).map(([name, port]) => ({
    name,
    port,
    protocol: protocols[name as keyof typeof protocols],
  }));
  const gateway = object as KubernetesObject & { spec: object };
  return { ...gateway, spec: { ...gateway.spec, listeners } } as KubernetesObject;
}

async function targetOf(load: LoadKind): Promise<GatewayTarget> {
  const address = "--output=jsonpath={.items[0].spec.clusterIP}";
  return { host: await system.run(["get", "services", `--selector=${SELECTOR}`, address]), port: portOf(load) };
}

function portOf(load: LoadKind): number {
  return load === "grpc" || load === "tcp" || load === "udp" ? LISTENER_PORTS[load] : LISTENER_PORTS.http;
}

async function findDeployment(): Promise<string | undefined> {
  const { items } = await system.json<{ readonly items: readonly V1Deployment[] }>([
    "get",
    "deployments",
    `--selector=${SELECTOR}`,
  ]);
  return items[0]?.metadata?.name;
}
