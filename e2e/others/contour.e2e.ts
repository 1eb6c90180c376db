/** Rolls the Envoys of a real Contour under load: with its own shutdown manager, with lastcall, with both, and with neither. */
import type { V1Service } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, test } from "vitest";
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
import { ENDINGS, type Ending } from "../client/gateway-endings.ts";
import { loadsOf } from "../client/gateway-load.ts";
import { BACKEND, backendObjects, ingressRules, type LooseObject } from "../client/gateway-objects.ts";
import { applyGuideProxies, deleteProxies } from "../client/guide-proxies.ts";
import { kubectlIn, kubectlOf } from "../client/kubectl.ts";
import { type Gateway, measureRollout } from "../client/measure-rollout.ts";
import { ENVOY } from "../client/measured-pods.ts";
import { readSuite } from "../client/suite.ts";

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

/** Applies the guide's Deployment of Envoys, the backend, and the routes to it. */
async function applyEnvoys(namespace: CaseNamespace, ending: Ending): Promise<void> {
  await deleteProxies(ENVOYS);
  await namespace.apply([...backendObjects(namespace), ingress()]);
  const annotation = "projectcontour.io/upstream-protocol.h2c=grpc";
  await namespace.kubectl.run(["annotate", "service", BACKEND, annotation, "--overwrite"]);
  await namespace.waitForRollout(`deployment/${BACKEND}`);
  await applyGuideProxies(ENVOYS, ending, (containers) => {
    if (ending === "neither") for (const container of containers) delete container.lifecycle;
  });
}

/** Returns an Ingress for every host, because an HTTPProxy requires a host name. */
function ingress(): LooseObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", annotations: { "projectcontour.io/websocket-routes": "/ws" } },
    spec: { rules: ingressRules(BACKEND) },
  };
}
