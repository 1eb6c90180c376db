import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { installLastcall, uninstallLastcall } from "../client/lastcall-release.ts";
import { clusterIp, startLoadOn, sumOf } from "../client/load.ts";
import { APP, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);
const ENABLED = { labels: { "lastcall.dev/inject": "enabled" } };

describe.for(["lastcall-manager", "lastcall-manager-node"] as const)("with %s", (manager) => {
  beforeAll(() => installLastcall(suite, { manager }));
  afterAll(() => uninstallLastcall(suite));

  test("a rollout across two nodes under mixed load fails no request", async () => {
    await inNamespace(suite, `rollout-${manager}`, ENABLED, async (namespace) => {
      await namespace.apply(sampleApp(namespace));
      await namespace.rolledOut(`deployment/${APP}`);
      for (const pod of await namespace.pods(`app=${APP}`)) {
        expect(pod.spec?.initContainers?.map(({ name }) => name)).toEqual(["lastcall"]);
      }
      const target = { host: await clusterIp(namespace, APP), port: 80 };
      const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
      await namespace.here.run(["rollout", "restart", `deployment/${APP}`]);
      await namespace.rolledOut(`deployment/${APP}`);
      await namespace.settled();
      const { requests, failed } = sumOf(await Promise.all(loads.map((load) => load.stop())));
      expect(requests).toBeGreaterThan(100);
      expect(failed).toBe(0);
    });
  });
});
