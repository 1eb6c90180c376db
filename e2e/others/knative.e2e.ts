/** Deletes Pods of a real Knative revision under load, without and with lastcall. */
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { isInjected } from "../client/create-pods.ts";
import { startDns } from "../client/dns.ts";
import { recordLine } from "../client/guide-on-cluster.ts";
import { nameOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { importKnative, installKnative, uninstallKnative } from "../client/knative.ts";
import { clusterIp, startLoadOn, sumOf } from "../client/load.ts";
import { APP_PORT } from "../client/sample-app.ts";
import { imageOf, readSuite } from "../client/suite.ts";
import { MIN_REQUESTS } from "../client/under-load.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const CONFIGURATION = "hello";
const SELECTOR = `serving.knative.dev/configuration=${CONFIGURATION}`;
const REPLICAS = 2;

beforeAll(async () => {
  await startDns(suite);
  await importKnative(suite);
  await installKnative(suite);
}, 1_800_000);
afterAll(() => uninstallKnative(suite), 300_000);

describe("a Pod of a Knative revision", { timeout: 600_000 }, () => {
  test.each([
    {
      title: "in a namespace without lastcall",
      namespace: "knative-bare",
      labels: {},
      annotations: {},
      isInjected: false,
    },
    {
      title: "in a namespace with lastcall, which skips it,",
      namespace: "knative-skipped",
      labels: OPT_IN,
      annotations: {},
      isInjected: false,
    },
    {
      title: "whose hooks lastcall replaces",
      namespace: "knative-replaced",
      labels: OPT_IN,
      annotations: { "lastcall.dev/prestop": "replace" },
      isInjected: true,
    },
  ])(
    "$title does not lose a request",
    async ({ title, namespace: namespaceName, labels, annotations, isInjected: isExpected }) => {
      await inNamespace(suite, namespaceName, { labels }, async (namespace) => {
        await namespace.apply([configuration(namespace, annotations)]);
        const service = await waitForRevision(namespace);
        const target = { host: await clusterIp(namespace, service), port: 80 };
        const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
        const [pod] = await namespace.pods(SELECTOR);
        expect(pod !== undefined && isInjected(pod)).toBe(isExpected);
        const name = pod === undefined ? "" : nameOf(pod);
        const startedMs = Date.now();
        await namespace.kubectl.run(["delete", "pod", name, "--timeout=300s"]);
        const seconds = Math.round((Date.now() - startedMs) / 1000);
        const { requests, failed } = sumOf(await Promise.all(loads.map((load) => load.stop())));
        recordLine(
          namespace,
          `a Pod ${title}: ${failed} of ${requests} requests failed; terminated after ${seconds} s`,
        );
        expect(requests).toBeGreaterThan(MIN_REQUESTS);
        expect(failed).toBe(0);
      });
    },
  );
});

/** A Configuration is a Knative Service without routes, which would need an ingress. */
function configuration(
  namespace: CaseNamespace,
  annotations: Readonly<Record<string, string>>,
): KubernetesObject & Readonly<Record<string, unknown>> {
  const container = {
    image: imageOf(suite, "lastcall-test-app"),
    imagePullPolicy: "IfNotPresent",
    args: ["/app/lifecycle-app.mjs"],
    ports: [{ containerPort: APP_PORT }],
    readinessProbe: { httpGet: { path: "/healthz", port: APP_PORT }, periodSeconds: 1 },
  };
  return {
    apiVersion: "serving.knative.dev/v1",
    kind: "Configuration",
    metadata: { name: CONFIGURATION, namespace: namespace.name },
    spec: {
      template: {
        metadata: { annotations: { ...annotations, "autoscaling.knative.dev/min-scale": `${REPLICAS}` } },
        spec: { containers: [container] },
      },
    },
  };
}

/** @returns the revision's Service of its ready Pods, which Knative's routes use under load */
async function waitForRevision(namespace: CaseNamespace): Promise<string> {
  const timeout = "--timeout=180s";
  await namespace.kubectl.run(["wait", "--for=condition=Ready", `configuration/${CONFIGURATION}`, timeout]);
  await waitUntil({ condition: `${REPLICAS} Pods are ready`, withinMs: 120_000, everyMs: 500 }, async () => {
    const pods = await namespace.pods(SELECTOR);
    const isReady = ({ status }: (typeof pods)[number]) =>
      status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    return pods.filter(isReady).length === REPLICAS ? true : undefined;
  });
  return `${CONFIGURATION}-00001-private`;
}
