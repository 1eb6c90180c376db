/** Rolls the Envoys of a real Contour under load: with its own shutdown manager, with lastcall, with both, and with neither. */
import type { KubernetesObject, V1Deployment, V1Service } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, test } from "vitest";
import { documentsOf, readGuide } from "../../test/guides/manifests.ts";
import { UPSTREAM_PORTS } from "../../test/programs/envoy/upstream-ports.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import {
  CONTOUR_NAMESPACE,
  CONTOUR_VERSION,
  importContour,
  installContour,
  uninstallContour,
} from "../client/contour.ts";
import { startDns } from "../client/dns.ts";
import { ENVOY_VERSION } from "../client/envoy-image.ts";
import { ENDINGS, type Ending, podSettingsOf } from "../client/gateway-endings.ts";
import { loadsOf } from "../client/gateway-load.ts";
import { backendObjects, HTTP1_PORT, HTTP2_PORT } from "../client/gateway-objects.ts";
import { kubectlIn, kubectlOf } from "../client/kubectl.ts";
import { type Gateway, measureRollout, podsOf } from "../client/measure-rollout.ts";
import { ENVOY } from "../client/measured-pods.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE = "shop";
/** Contour routes TCP only by the TLS server name, and does not route UDP. */
const LOADS = loadsOf(suite, ["tcp", "udp"]);

const ENVOYS: Gateway = {
  gateway: "Contour",
  versions: `Contour ${CONTOUR_VERSION}, Envoy ${ENVOY_VERSION}`,
  guide: "contour",
  podNamespace: CONTOUR_NAMESPACE,
  kubectl: kubectlIn(kubectlOf(suite), CONTOUR_NAMESPACE),
  selector: "app=envoy",
  deployment: "envoy",
  proxy: ENVOY,
  ownManager: "shutdown-manager",
};

beforeAll(async () => {
  await startDns(suite);
  await importContour(suite);
  await installContour(suite);
}, 1_800_000);
afterAll(() => uninstallContour(suite), 300_000);

describe("a rollout of Contour's Envoys", () => {
  test.each(ENDINGS)(
    "ended by %s is measured under each load, and does not lose a request with lastcall",
    async (ending) => {
      await inNamespace(suite, NAMESPACE, { timeline: "pods" }, async (namespace) => {
        await applyEnvoys(namespace, ending);
        const service = await ENVOYS.kubectl.json<V1Service>(["get", "service", "envoy"]);
        const target = { host: service.spec?.clusterIP ?? "", port: 80 };
        for (const load of LOADS) await measureRollout(namespace, ENVOYS, ending, load, target);
      });
    },
    3_600_000,
  );
});

/** Applies the guide's Deployment of Envoys. */
async function applyEnvoys(namespace: CaseNamespace, ending: Ending): Promise<void> {
  await ENVOYS.kubectl.run(["delete", "deployment", ENVOYS.deployment, "--ignore-not-found"]);
  await waitUntil({ condition: "no Envoy of an earlier case exists", withinMs: 420_000, everyMs: 1_000 }, async () =>
    (await podsOf(ENVOYS)).length === 0 ? true : undefined,
  );
  await namespace.apply([...backendObjects(namespace), ingress()]);
  const annotation = "projectcontour.io/upstream-protocol.h2c=grpc";
  await namespace.kubectl.run(["annotate", "service", "backend", annotation, "--overwrite"]);
  await namespace.waitForRollout("deployment/backend");
  const objects = documentsOf(readGuide("contour").manifest) as readonly (KubernetesObject & V1Deployment)[];
  const list = { apiVersion: "v1", kind: "List", items: objects.map((object) => withEnding(object, ending)) };
  await ENVOYS.kubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], JSON.stringify(list));
  await ENVOYS.kubectl.run(["rollout", "status", `deployment/${ENVOYS.deployment}`, "--timeout=180s"]);
}

function withEnding(object: V1Deployment, ending: Ending): V1Deployment {
  const deployment = structuredClone(object);
  const template = deployment.spec?.template;
  if (template?.metadata === undefined) throw new Error("The guide's manifest has no Pod template.");
  const settings = podSettingsOf(ending);
  template.metadata = {
    ...template.metadata,
    ...settings,
    labels: { ...template.metadata.labels, ...settings.labels },
  };
  if (ending === "neither") for (const container of template.spec?.containers ?? []) delete container.lifecycle;
  return deployment;
}

/** Returns an Ingress for every host, because an HTTPProxy requires a host name. */
function ingress(): KubernetesObject & Readonly<Record<string, unknown>> {
  const path = (prefix: string, port: number) => ({
    path: prefix,
    pathType: "Prefix",
    backend: { service: { name: "backend", port: { number: port } } },
  });
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", annotations: { "projectcontour.io/websocket-routes": "/ws" } },
    spec: {
      rules: [
        {
          http: {
            paths: [
              path("/ws", UPSTREAM_PORTS.http1),
              path("/lastcall.test.Greeter", HTTP2_PORT),
              path("/", HTTP1_PORT),
            ],
          },
        },
      ],
    },
  };
}
