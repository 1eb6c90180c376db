/** Deletes a Pod of the guide for ingress-nginx under load: a real nginx with a fixed configuration instead of the controller's. */
import type { V1Service } from "@kubernetes/client-node";
import { beforeAll, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { applyGuide, expectRunning, namespaceLabels } from "../client/guide-on-cluster.ts";
import { IMAGE, importIngressNginx } from "../client/ingress-nginx.ts";
import { managerOf, nameOf } from "../client/injected-pods.ts";
import { clusterIp, startLoadOn } from "../client/load.ts";
import { drainReport, followLog, MANAGER } from "../client/pod-log.ts";
import { saveDrain } from "../client/save-drain.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS } from "../client/under-load.ts";

const suite = readSuite(process.env);
const GUIDE = "ingress-nginx";
const NAMESPACE = "ingress-nginx";
const OWNER = "Deployment/ingress-nginx-controller";
const LABEL = { "app.kubernetes.io/component": "controller" };
const SELECTOR = "app.kubernetes.io/component=controller";
const SERVICE: V1Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "gateway" },
  spec: { selector: LABEL, ports: [{ port: 80, targetPort: 80 }] },
};

beforeAll(() => importIngressNginx(suite), 1_200_000);

test("the deletion of a Pod of ingress-nginx with the guide's manifest fails no request", async () => {
  await inNamespace(suite, NAMESPACE, { labels: namespaceLabels(GUIDE) }, async (namespace) => {
    expect(await applyGuide(namespace, GUIDE, [IMAGE])).toEqual([OWNER]);
    await namespace.apply([SERVICE]);
    await namespace.waitForRollout(OWNER.toLowerCase());
    await expectRunning(namespace, GUIDE, OWNER, SELECTOR);
    const [pod] = await namespace.pods(SELECTOR);
    const name = pod === undefined ? "" : nameOf(pod);
    if (pod !== undefined) managerOf(pod);
    const manager = followLog(namespace, name, MANAGER);
    await manager.waitFor("listening");
    const target = { host: await clusterIp(namespace, "gateway"), port: 80 };
    const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
    await namespace.kubectl.run(["delete", "pod", name, "--wait=false"]);
    const report = await drainReport(manager, 120);
    await saveDrain(namespace, GUIDE, name);
    await namespace.waitForTerminations(SELECTOR);
    const results = await Promise.all(loads.map((load) => load.stop()));
    expect(results.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(MIN_REQUESTS);
    expect(results.map(({ failed }) => failed)).toEqual([0, 0]);
    expect(report).toMatchObject({ outcome: "drained" });
  });
});
