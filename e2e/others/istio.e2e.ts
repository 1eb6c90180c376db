/**
 * Rolls an app and a gateway in the mesh of a real Istio, with strict mutual TLS: its own control plane, injector and agent, and an
 * upstream Envoy instead of Istio's build of it.
 */
import type { V1Job, V1MutatingWebhookConfiguration } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { dryRunCreate, isInjected } from "../client/create-pods.ts";
import { startDns } from "../client/dns.ts";
import { ENVOY_VERSION } from "../client/envoy-image.ts";
import { recordLine } from "../client/guide-on-cluster.ts";
import { expectInjectedPods, managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { ISTIO_VERSION, importIstio, installIstio, istiodLog, uninstallIstio } from "../client/istio.ts";
import {
  hookPathOfProxy,
  IN_MESH,
  meshApp,
  PROXY_KINDS,
  type ProxyKind,
  proxyOf,
  strictMutualTls,
} from "../client/mesh-app.ts";
import { GATEWAY, meshGateway } from "../client/mesh-gateway.ts";
import { MESH_ENDINGS, type MeshEnding, meshResults } from "../client/mesh-results.ts";
import { underOutsideLoad } from "../client/outside-load.ts";
import { APP, appContainer, barePod, nodeContainer, type SampleOptions } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";

const suite = readSuite(process.env);
const NAMESPACE = "mesh";
const CASE_LIMIT_MS = 600_000;
const SLEEP: SampleOptions = { container: { lifecycle: { preStop: { sleep: { seconds: 5 } } } } };
/** The settings for regular proxies that Istio recommends for graceful shutdowns. */
const PROXY_SETTINGS = {
  "proxy.istio.io/config": JSON.stringify({
    holdApplicationUntilProxyStarts: true,
    proxyMetadata: { EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "true" },
  }),
};

beforeAll(async () => {
  await startDns(suite);
  await importIstio(suite);
  await uninstallIstio(suite);
  await installIstio(suite);
}, 1_800_000);
afterAll(() => uninstallIstio(suite), 300_000);

describe.each(PROXY_KINDS)("in strict mutual TLS, a rollout of Pods with a %s proxy", (proxy) => {
  test.each(MESH_ENDINGS)(
    "ended by %s loses requests without a hook, but not with lastcall",
    async (ending) => {
      await inMesh(ending === "lastcall", async (namespace) => {
        await startApp(namespace, proxy, ending === "preStop: sleep 5" ? SLEEP : {});
        await measureRollout(namespace, proxy, ending);
      });
    },
    CASE_LIMIT_MS,
  );
});

test(
  "a regular proxy that starts first and exits without connections does not lose a request with lastcall",
  async () => {
    await inMesh(true, async (namespace) => {
      await startApp(namespace, "classic", { annotations: PROXY_SETTINGS });
      await expectNoFailure(namespace);
    });
  },
  CASE_LIMIT_MS,
);

test(
  "if Istio's webhook is called first, a warning names the annotation with which no request fails",
  async () => {
    await inMesh(true, async (namespace) => {
      await withIstioFirst(namespace, async () => {
        const pod = barePod(namespace, "order", [appContainer(namespace)]);
        const { warnings } = await dryRunCreate(namespace.kubectl, [pod]);
        const [, annotation = "", ports = ""] = /Set (\S+): "?([0-9,]+)/.exec(warnings.join("\n")) ?? [];
        expect(annotation).toBe("traffic.sidecar.istio.io/excludeInboundPorts");
        await startApp(namespace, "native", { annotations: { [annotation]: ports } });
        await expectNoFailure(namespace);
      });
    });
  },
  CASE_LIMIT_MS,
);

describe("if Istio's webhook is called again after lastcall's", { timeout: CASE_LIMIT_MS }, () => {
  test.each(PROXY_KINDS)(
    "the rollout of a %s proxy, which keeps lastcall's hook, does not lose a request",
    async (proxy) => {
      await inMesh(true, async (namespace) => {
        await withReinvocation(namespace, async () => {
          await startApp(namespace, proxy);
          if (proxy === "classic")
            for (const pod of await expectInjectedPods(namespace, `app=${APP}`))
              expect(hookPathOfProxy(pod)).toMatch(/\/prestop\/istio-proxy$/);
          await expectNoFailure(namespace);
        });
      });
    },
  );
});

test(
  "a gateway by injection has the driver envoy, and its rollout does not lose a request from outside the cluster",
  async () => {
    await inMesh(true, async (namespace) => {
      await startApp(namespace, "native");
      await namespace.apply(meshGateway());
      await namespace.waitForRollout(`deployment/${GATEWAY}`);
      for (const pod of await expectInjectedPods(namespace, `app=${GATEWAY}`))
        expect(managerOf(pod).args).toContain("--driver=envoy");
      const { requests, failed } = await underOutsideLoad(namespace, GATEWAY, async () => {
        await restartRollout(namespace, `deployment/${GATEWAY}`);
        await namespace.waitForTerminations(`app=${GATEWAY}`);
      });
      recordLine(namespace, `gateway by injection: ${failed} of ${requests} requests failed`);
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  },
  CASE_LIMIT_MS,
);

test(
  "a Job with a native proxy and a manager completes",
  async () => {
    await inMesh(true, async (namespace) => {
      const annotations = { "lastcall.dev/inject": "enabled" };
      const containers = [nodeContainer(namespace, "work", ["-e", "setTimeout(() => {}, 2000)"])];
      const job: V1Job = {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: "work" },
        spec: {
          backoffLimit: 0,
          template: { metadata: { annotations }, spec: { restartPolicy: "Never", containers } },
        },
      };
      await namespace.apply([job]);
      await namespace.kubectl.run(["wait", "--for=condition=Complete", "job/work", "--timeout=90s"]);
      const [pod] = await namespace.pods("batch.kubernetes.io/job-name=work");
      if (pod === undefined) throw new Error("The Job has no Pod.");
      expect([proxyOf(pod), isInjected(pod)]).toEqual(["native", true]);
    });
  },
  CASE_LIMIT_MS,
);

/** Runs the work in a namespace with strict mutual TLS. Fails if a proxy rejected a configuration of istiod. */
async function inMesh(hasLastcall: boolean, work: (namespace: CaseNamespace) => Promise<void>): Promise<void> {
  const labels = { ...IN_MESH, ...(hasLastcall ? OPT_IN : {}) };
  await inNamespace(suite, NAMESPACE, { labels }, async (namespace) => {
    await namespace.apply([strictMutualTls()]);
    try {
      await work(namespace);
      expect(await istiodLog(suite)).not.toContain("ACK ERROR");
    } finally {
      namespace.saveArtifact("istiod.txt", await istiodLog(suite));
    }
  });
}

async function startApp(namespace: CaseNamespace, proxy: ProxyKind, options: SampleOptions = {}): Promise<void> {
  await namespace.apply(meshApp(namespace, proxy, options));
  await namespace.waitForRollout(`deployment/${APP}`);
  for (const pod of await namespace.pods(`app=${APP}`)) expect(proxyOf(pod)).toBe(proxy);
  await expectRefusedWithoutTls(namespace);
}

/** A connection from outside the mesh proves that the proxy receives the app's traffic, and that it requires mutual TLS. */
async function expectRefusedWithoutTls(namespace: CaseNamespace): Promise<void> {
  const [pod] = await namespace.pods(`app=${APP}`);
  const name = "outside-the-mesh";
  const script = `fetch("http://${pod?.status?.podIP}:8080/").then((r) => console.log("status", r.status), (e) => console.log("refused", e.cause.code))`;
  const labels = { "sidecar.istio.io/inject": "false", "lastcall.dev/inject": "disabled" };
  const client = barePod(namespace, name, [nodeContainer(namespace, "client", ["-e", script])], {
    labels,
    pod: { restartPolicy: "Never" },
  });
  await namespace.apply([client]);
  await namespace.kubectl.run(["wait", "--for=jsonpath={.status.phase}=Succeeded", `pod/${name}`, "--timeout=60s"]);
  expect(await namespace.kubectl.run(["logs", name])).toContain("refused ECONNRESET");
}

async function measureRollout(namespace: CaseNamespace, proxy: ProxyKind, ending: MeshEnding): Promise<void> {
  for (const pod of await namespace.pods(`app=${APP}`)) expect(isInjected(pod)).toBe(ending === "lastcall");
  let seconds = 0;
  const { requests, failed } = await underLoad(namespace, async () => {
    const startedMs = Date.now();
    await restartRollout(namespace);
    await namespace.waitForTerminations(`app=${APP}`);
    seconds = Math.round((Date.now() - startedMs) / 1_000);
  });
  const versions = `Istio ${ISTIO_VERSION}, Envoy ${ENVOY_VERSION}`;
  const date = new Date().toISOString().slice(0, 10);
  meshResults.record({ versions, date, proxy, ending, requests, failed, seconds });
  recordLine(namespace, `${proxy} proxy, ${ending}: ${failed} of ${requests} requests failed, rolled in ${seconds} s`);
  expect(requests).toBeGreaterThan(MIN_REQUESTS);
  if (ending === "no hook") expect(failed).toBeGreaterThan(0);
  if (ending === "lastcall") expect(failed).toBe(0);
}

async function expectNoFailure(namespace: CaseNamespace): Promise<void> {
  await expectInjectedPods(namespace, `app=${APP}`);
  const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace));
  expect(requests).toBeGreaterThan(MIN_REQUESTS);
  expect(failed).toBe(0);
}

/** Renames the configuration of Istio's webhook during the work: API servers call webhooks in the order of these names. */
async function withIstioFirst({ clusterKubectl }: CaseNamespace, work: () => Promise<void>): Promise<void> {
  const kind = "mutatingwebhookconfiguration";
  const rename = async (from: string, to: string) => {
    const { metadata, ...rest } = await clusterKubectl.json<V1MutatingWebhookConfiguration>(["get", kind, from]);
    const { labels = {}, annotations = {} } = metadata ?? {};
    const renamed = { ...rest, metadata: { name: to, labels, annotations } };
    await clusterKubectl.run(["create", "--filename=-"], JSON.stringify(renamed));
    await clusterKubectl.run(["delete", kind, from]);
  };
  const [name, firstName] = ["istio-sidecar-injector", "a-istio-sidecar-injector"];
  await rename(name, firstName);
  try {
    await work();
  } finally {
    await rename(firstName, name);
  }
}

/** Makes the API server call Istio's webhook again if lastcall's has changed the Pod. Istio's chart sets `Never`. */
async function withReinvocation({ clusterKubectl }: CaseNamespace, work: () => Promise<void>): Promise<void> {
  const args = ["mutatingwebhookconfiguration", "istio-sidecar-injector"];
  const { webhooks = [] } = await clusterKubectl.json<V1MutatingWebhookConfiguration>(["get", ...args]);
  const setPolicy = async (value: "IfNeeded" | "Never") => {
    const patch = webhooks.map((_, index) => ({ op: "replace", path: `/webhooks/${index}/reinvocationPolicy`, value }));
    await clusterKubectl.run(["patch", ...args, "--type=json", `--patch=${JSON.stringify(patch)}`]);
  };
  await setPolicy("IfNeeded");
  try {
    await work();
  } finally {
    await setPolicy("Never");
  }
}
