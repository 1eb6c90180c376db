import { describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { clusterIp, startLoadOn, sumOf } from "../client/load.ts";
import { APP, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);

describe("the test cluster", () => {
  test("serves a Deployment of two Pods on both nodes through its ClusterIP to clients on both nodes", async () => {
    await inNamespace(suite, "serving", {}, async (namespace) => {
      await namespace.apply(sampleApp(namespace));
      await namespace.waitForRollout(`deployment/${APP}`);
      const pods = await namespace.pods(`app=${APP}`);
      expect(new Set(pods.map((pod) => pod.spec?.nodeName)).size).toBe(2);
      const target = { host: await clusterIp(namespace, APP), port: 80 };
      const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
      const results = await Promise.all(loads.map((load) => load.stop()));
      expect(sumOf(results)).toMatchObject({ failed: 0 });
      for (const { requests } of results) expect(requests).toBeGreaterThan(0);
    });
  });

  test("fails requests in a rollout without lastcall, which is the problem that lastcall solves", async () => {
    await inNamespace(suite, "fault-shown", {}, async (namespace) => {
      await namespace.apply(sampleApp(namespace));
      await namespace.waitForRollout(`deployment/${APP}`);
      const target = { host: await clusterIp(namespace, APP), port: 80 };
      const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
      await namespace.kubectl.run(["rollout", "restart", `deployment/${APP}`]);
      await namespace.waitForRollout(`deployment/${APP}`);
      await namespace.waitForTerminations();
      const { requests, failed } = sumOf(await Promise.all(loads.map((load) => load.stop())));
      expect(requests).toBeGreaterThan(100);
      expect(failed).toBeGreaterThan(0);
    });
  });
});
