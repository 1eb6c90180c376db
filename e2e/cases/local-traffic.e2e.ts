/** Rolls one Pod per node behind a node port with `externalTrafficPolicy: Local`, under load from outside the cluster. */
import type { V1DaemonSet, V1Deployment, V1Service } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { recordLine } from "../client/guide-on-cluster.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { underOutsideLoad } from "../client/outside-load.ts";
import { APP, APP_PORT, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { type LoadSum, MIN_REQUESTS, restartRollout } from "../client/under-load.ts";

const suite = readSuite(process.env);
const DAEMON_SET = `daemonset/${APP}`;

// The addresses of another cluster's nodes may not be reachable from this host.
describe.skipIf(suite.context !== undefined)("with externalTrafficPolicy Local, a rollout of one Pod per node", () => {
  test("does not lose a request from outside the cluster with lastcall", async () => {
    await inNamespace(suite, "local-traffic", { labels: OPT_IN }, async (namespace) => {
      await startApp(namespace);
      await expectInjectedPods(namespace, `app=${APP}`);
      const { requests, failed } = await rollUnderLoad(namespace);
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });

  test("loses requests from outside the cluster without lastcall", async () => {
    await inNamespace(suite, "local-traffic-without", {}, async (namespace) => {
      await startApp(namespace);
      const { requests, failed } = await rollUnderLoad(namespace);
      recordLine(namespace, `externalTrafficPolicy Local without lastcall: ${failed} of ${requests} requests failed`);
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBeGreaterThan(0);
    });
  });
});

async function startApp(namespace: CaseNamespace): Promise<void> {
  const [deployment] = sampleApp(namespace) as readonly V1Deployment[];
  const template = deployment?.spec?.template;
  if (template === undefined) throw new Error("The sample app has no Pod template.");
  const labels = { app: APP };
  const daemonSet: V1DaemonSet = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: APP },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template,
    },
  };
  const service: V1Service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: APP },
    spec: {
      type: "NodePort",
      externalTrafficPolicy: "Local",
      selector: labels,
      ports: [{ port: 80, targetPort: APP_PORT }],
    },
  };
  await namespace.apply([daemonSet, service]);
  await namespace.waitForRollout(DAEMON_SET);
}

function rollUnderLoad(namespace: CaseNamespace): Promise<LoadSum> {
  return underOutsideLoad(namespace, APP, async () => {
    await restartRollout(namespace, DAEMON_SET);
    await namespace.waitForTerminations(`app=${APP}`);
  });
}
