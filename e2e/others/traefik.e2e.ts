/**
 * Rolls a real Traefik and the Pods behind it at the same time under load: with Traefik's own wait, with lastcall, and without
 * both. The Pods behind it have lastcall in every case, so that the failures are those of Traefik's rollout.
 */
import type { V1Service } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import type { Ending } from "../client/gateway-endings.ts";
import { loadsOf } from "../client/gateway-load.ts";
import {
  BACKEND,
  BACKEND_LABELS,
  backendObjects,
  HTTP2_PORT,
  ingressRules,
  type LooseObject,
} from "../client/gateway-objects.ts";
import { applyGuideProxies, deleteProxies } from "../client/guide-proxies.ts";
import { kubectlIn, kubectlOf } from "../client/kubectl.ts";
import { type Gateway, measureRollout } from "../client/measure-rollout.ts";
import { readSuite } from "../client/suite.ts";
import {
  importTraefik,
  installTraefik,
  TRAEFIK_NAMESPACE,
  TRAEFIK_VERSION,
  uninstallTraefik,
} from "../client/traefik.ts";

const suite = readSuite(process.env);
const NAMESPACE = "shop";
const GRPC_SERVICE = "grpc";
/** Traefik's own wait at SIGTERM, during which it keeps accepting connections and fails its readiness probe. */
const OWN_WAIT = "--entrypoints.web.transport.lifecycle.requestacceptgracetimeout=5s";
/** An Ingress routes only HTTP. */
const LOADS = loadsOf(suite, ["tcp", "udp"]);

const TRAEFIK = {
  gateway: "Traefik",
  versions: `Traefik ${TRAEFIK_VERSION}`,
  guide: "traefik",
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
  await deleteProxies(TRAEFIK);
  const backends = backendObjects(namespace, { replicas: 2, isInjected: true });
  await namespace.apply([...backends, h2cService(), ingress()]);
  await namespace.waitForRollout(`deployment/${BACKEND}`);
  await applyGuideProxies(TRAEFIK, ending, (containers) => {
    if (ending === "own") for (const container of containers) container.args = [...(container.args ?? []), OWN_WAIT];
  });
}

/** A separate Service, because Traefik's annotation for HTTP/2 without TLS applies to all ports of a Service. */
function h2cService(): LooseObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: GRPC_SERVICE, annotations: { "traefik.ingress.kubernetes.io/service.serversscheme": "h2c" } },
    spec: { selector: BACKEND_LABELS, ports: [{ name: "grpc", port: HTTP2_PORT }] },
  };
}

function ingress(): LooseObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web" },
    spec: { ingressClassName: "traefik", rules: ingressRules(GRPC_SERVICE) },
  };
}

/** Traefik's access log in JSON has the start and the duration in nanoseconds. */
function endOfRequest(line: string): number {
  if (!line.startsWith("{")) return 0;
  const { StartUTC: start, Duration: durationNs } = JSON.parse(line) as { StartUTC?: string; Duration?: number };
  return start === undefined ? 0 : Date.parse(start) + (durationNs ?? 0) / 1e6;
}
