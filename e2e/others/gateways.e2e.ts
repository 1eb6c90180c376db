/** Tests the gateways of the guides: a real Envoy and a real nginx behind a Service, under load, in Pods as Contour, ingress-nginx and Envoy Gateway create them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { V1Pod, V1Service } from "@kubernetes/client-node";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { documentsOf, readGuide } from "../../test/guides/manifests.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { GATEWAY_IMAGES, importGatewayImages } from "../client/gateways.ts";
import { applyGuide, expectRunning, namespaceLabels } from "../client/guide-on-cluster.ts";
import { managerOf, nameOf } from "../client/injected-pods.ts";
import { clusterIp, startLoadOn } from "../client/load.ts";
import { drainReport, followLog, MANAGER } from "../client/pod-log.ts";
import { saveDrain } from "../client/save-drain.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS } from "../client/under-load.ts";
import { staticEnvoy } from "../programs/static-envoy.ts";

const suite = readSuite(process.env);
const MANAGED_POD_FILE = join(import.meta.dirname, "../../test/golden/envoy-gateway-managed/input.yaml");
const SERVICE = "gateway";
/** The reason in a report if the driver counted requests; if the manager sampled only sockets, a report has another reason. */
const COUNTED_REASON = "no request was active";

beforeAll(() => importGatewayImages(suite), 1_200_000);

describe("the deletion of a Pod loses no request", () => {
  test("of Contour's Envoy, with the guide's manifest", async () => {
    const why = await runGuide("contour", "projectcontour", { app: "envoy" }, 8080, "deployment/envoy");
    // The manager counts requests through Envoy's admin Unix socket, so it must run as a user that may write to it.
    expect(why).toContain(COUNTED_REASON);
  });

  test("of ingress-nginx, with the guide's manifest", async () => {
    const labels = { "app.kubernetes.io/component": "controller" };
    await runGuide("ingress-nginx", "ingress-nginx", labels, 80, "deployment/ingress-nginx-controller");
  });

  test("of Envoy Gateway's Envoy, in its controller's Pod with the guide's EnvoyProxy", async () => {
    await inNamespace(suite, "envoy-gateway-system", {}, async (namespace) => {
      const labels = { app: "envoy" };
      await namespace.apply([
        serviceFor(labels, 8080),
        ...["proxy-0", "proxy-1"].map((name) => managedPod(name, labels)),
      ]);
      await namespace.kubectl.run(["wait", "--for=condition=Ready", "pods", "--selector=app=envoy", "--timeout=90s"]);
      expect(await expectNoLoss(namespace, "envoy-gateway", "app=envoy")).toContain(COUNTED_REASON);
    });
  });
});

async function runGuide(
  guide: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  port: number,
  workload: string,
): Promise<string> {
  let why = "";
  await inNamespace(suite, name, { labels: namespaceLabels(guide) }, async (namespace) => {
    const running = await applyGuide(namespace, guide, Object.values(GATEWAY_IMAGES));
    expect(running.map((owner) => owner.toLowerCase())).toEqual([workload]);
    await namespace.apply([serviceFor(labels, port)]);
    await namespace.waitForRollout(workload);
    const [[label, value] = ["", ""]] = Object.entries(labels);
    const selector = `${label}=${value}`;
    await expectRunning(namespace, guide, running[0] ?? "", selector);
    why = await expectNoLoss(namespace, guide, selector);
  });
  return why;
}

/** Deletes one of the Pods under load from both nodes, saves its drain for the guide's picture, and returns the drain's reason. */
async function expectNoLoss(namespace: CaseNamespace, guide: string, selector: string): Promise<string> {
  const [pod] = await namespace.pods(selector);
  const name = pod === undefined ? "" : nameOf(pod);
  if (pod !== undefined) managerOf(pod);
  const manager = followLog(namespace, name, MANAGER);
  await manager.waitFor("listening");
  const target = { host: await clusterIp(namespace, SERVICE), port: 80 };
  const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
  await namespace.kubectl.run(["delete", "pod", name, "--wait=false"]);
  const report = await drainReport(manager, 120);
  await saveDrain(namespace, guide, name);
  await namespace.waitForTerminations(selector);
  const results = await Promise.all(loads.map((load) => load.stop()));
  namespace.addTimelineLine(`${guide}: ${report.outcome}, ${report.why}`);
  expect(results.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(MIN_REQUESTS);
  expect(results.map(({ failed }) => failed)).toEqual([0, 0]);
  expect(report).toMatchObject({ outcome: "drained" });
  return report.why;
}

function serviceFor(selector: Readonly<Record<string, string>>, targetPort: number): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: SERVICE },
    spec: { selector: { ...selector }, ports: [{ port: 80, targetPort }] },
  };
}

type PodSettings = { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };

/** The Pod settings of the guide's EnvoyProxy. */
function readGuideSettings(): PodSettings {
  const [proxy] = documentsOf(readGuide("envoy-gateway").manifest);
  const envoyProxy = proxy as { spec: { provider: { kubernetes: { envoyDeployment: { pod: PodSettings } } } } };
  return envoyProxy.spec.provider.kubernetes.envoyDeployment.pod;
}

/** Envoy gets its configuration as a flag, because the case has no control plane. */
function managedPod(name: string, labels: Readonly<Record<string, string>>): V1Pod {
  const pod: V1Pod = parse(readFileSync(MANAGED_POD_FILE, "utf8"));
  const settings = readGuideSettings();
  const config = JSON.stringify(staticEnvoy({ admin: 19_000, webPort: 8080, readyPort: 19_003 }));
  const flags = ["--config-yaml", config, "--drain-strategy", "immediate", "--drain-time-s", "60"];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: { ...pod.metadata?.labels, ...settings.labels, ...labels },
      ...annotations(settings),
    },
    spec: {
      ...pod.spec,
      containers: (pod.spec?.containers ?? []).map((container) =>
        container.name === "envoy"
          ? { ...container, image: GATEWAY_IMAGES.envoy, args: flags }
          : { ...container, image: GATEWAY_IMAGES.envoyGateway },
      ),
    },
  };
}

function annotations({ annotations: settings }: PodSettings): Pick<NonNullable<V1Pod["metadata"]>, "annotations"> {
  return settings === undefined ? {} : { annotations: settings };
}
