/**
 * Rolls a real Traefik and the Pods behind it at the same time under load: with Traefik's own wait, with lastcall, and without
 * both. The Pods behind it have lastcall in every case, so that the failures are those of Traefik's rollout.
 */
import type { KubernetesObject, V1Deployment, V1Service } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, test } from "vitest";
import { documentsOf, readGuide } from "../../test/guides/manifests.ts";
import { UPSTREAM_PORTS } from "../../test/programs/envoy/upstream-ports.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { type Ending, podSettingsOf } from "../client/gateway-endings.ts";
import { loadsOf } from "../client/gateway-load.ts";
import { BACKEND, BACKEND_LABELS, backendObjects, HTTP1_PORT, HTTP2_PORT } from "../client/gateway-objects.ts";
import { kubectlIn, kubectlOf } from "../client/kubectl.ts";
import { type Gateway, measureRollout, podsOf } from "../client/measure-rollout.ts";
import { readSuite } from "../client/suite.ts";
import {
  importTraefik,
  installTraefik,
  TRAEFIK_NAMESPACE,
  TRAEFIK_VERSION,
  uninstallTraefik,
} from "../client/traefik.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE = "shop";
const GUIDE = "traefik";
/** Traefik's own wait at SIGTERM, during which it keeps accepting connections and fails its readiness probe. */
const OWN_WAIT = "--entrypoints.web.transport.lifecycle.requestacceptgracetimeout=5s";
/** An Ingress routes only HTTP. */
const LOADS = loadsOf(suite, ["tcp", "udp"]);

const TRAEFIK = {
  gateway: "Traefik",
  versions: `Traefik ${TRAEFIK_VERSION}`,
  guide: GUIDE,
  podNamespace: TRAEFIK_NAMESPACE,
  kubectl: kubectlIn(kubectlOf(suite), TRAEFIK_NAMESPACE),
  selector: "app.kubernetes.io/name=traefik",
  deployment: "traefik",
  proxy: { container: "traefik", endOfRequest },
};

beforeAll(async () => {
  await importTraefik(suite);
  await installTraefik(suite);
}, 1_800_000);
afterAll(() => uninstallTraefik(suite), 300_000);

describe("a rollout of Traefik and of the Pods behind it", () => {
  test.each(["own", "lastcall", "neither"] as const)(
    "ended by %s is measured under each load, and does not lose a request with lastcall",
    async (ending) => {
      await inNamespace(suite, NAMESPACE, { timeline: "pods" }, async (namespace) => {
        await applyTraefik(namespace, ending);
        const service = await TRAEFIK.kubectl.json<V1Service>(["get", "service", "traefik"]);
        const target = { host: service.spec?.clusterIP ?? "", port: 80 };
        const gateway: Gateway = { ...TRAEFIK, restartOthers: () => restartBackends(namespace) };
        for (const load of LOADS) await measureRollout(namespace, gateway, ending, load, target);
      });
    },
    3_600_000,
  );
});

async function restartBackends(namespace: CaseNamespace): Promise<void> {
  await namespace.kubectl.run(["rollout", "restart", `deployment/${BACKEND}`]);
  await namespace.waitForRollout(`deployment/${BACKEND}`);
}

/** Applies the guide's Deployment, its backends, and the routes to them. */
async function applyTraefik(namespace: CaseNamespace, ending: Ending): Promise<void> {
  await TRAEFIK.kubectl.run(["delete", "deployment", TRAEFIK.deployment, "--ignore-not-found"]);
  await waitUntil({ condition: "no Traefik of an earlier case exists", withinMs: 420_000, everyMs: 1_000 }, async () =>
    (await podsOf(TRAEFIK)).length === 0 ? true : undefined,
  );
  const backends = backendObjects(namespace, { replicas: 2, isInjected: true });
  await namespace.apply([...backends, h2cService(), ingress()]);
  await namespace.waitForRollout(`deployment/${BACKEND}`);
  const objects = documentsOf(readGuide(GUIDE).manifest) as readonly (KubernetesObject & V1Deployment)[];
  const list = { apiVersion: "v1", kind: "List", items: objects.map((object) => withEnding(object, ending)) };
  await TRAEFIK.kubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], JSON.stringify(list));
  await TRAEFIK.kubectl.run(["rollout", "status", `deployment/${TRAEFIK.deployment}`, "--timeout=180s"]);
}

function withEnding(object: V1Deployment, ending: Ending): V1Deployment {
  const deployment = structuredClone(object);
  const template = deployment.spec?.template;
  const [container] = template?.spec?.containers ?? [];
  if (template?.metadata === undefined || container === undefined) throw new Error("The guide has no Pod template.");
  const settings = podSettingsOf(ending);
  template.metadata = {
    ...template.metadata,
    ...settings,
    labels: { ...template.metadata.labels, ...settings.labels },
  };
  if (ending === "own") container.args = [...(container.args ?? []), OWN_WAIT];
  return deployment;
}

/** A separate Service, because Traefik's annotation for HTTP/2 without TLS applies to all ports of a Service. */
function h2cService(): KubernetesObject & Readonly<Record<string, unknown>> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "grpc", annotations: { "traefik.ingress.kubernetes.io/service.serversscheme": "h2c" } },
    spec: { selector: BACKEND_LABELS, ports: [{ name: "grpc", port: HTTP2_PORT }] },
  };
}

function ingress(): KubernetesObject & Readonly<Record<string, unknown>> {
  const path = (prefix: string, name: string, port: number) => ({
    path: prefix,
    pathType: "Prefix",
    backend: { service: { name, port: { number: port } } },
  });
  const paths = [
    path("/ws", BACKEND, UPSTREAM_PORTS.http1),
    path("/lastcall.test.Greeter", "grpc", HTTP2_PORT),
    path("/", BACKEND, HTTP1_PORT),
  ];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web" },
    spec: { ingressClassName: "traefik", rules: [{ http: { paths } }] },
  };
}

/** Traefik's access log in JSON has the start and the duration in nanoseconds. */
function endOfRequest(line: string): number {
  if (!line.startsWith("{")) return 0;
  const { StartUTC: start, Duration: durationNs } = JSON.parse(line) as { StartUTC?: string; Duration?: number };
  return start === undefined ? 0 : Date.parse(start) + (durationNs ?? 0) / 1e6;
}
