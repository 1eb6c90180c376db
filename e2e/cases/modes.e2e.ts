/** Tests the modes classic, with the manager as a regular container, and sleep, without a manager. */
import { describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { APP, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };

describe("no request fails in a rollout under mixed load", () => {
  test("in mode classic, with the manager among the regular containers", async () => {
    await inNamespace(suite, "mode-classic", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace, { annotations: { "lastcall.dev/mode": "classic" } }));
      await namespace.waitForRollout(`deployment/${APP}`);
      for (const { spec } of await expectInjectedPods(namespace, `app=${APP}`)) {
        expect(spec?.initContainers ?? []).toEqual([]);
        expect(spec?.containers.map(({ name }) => name).sort()).toEqual(["app", "lastcall"]);
      }
      const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace));
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });

  test("in mode sleep, if the kubelet's sleep lasts longer than every connection", async () => {
    await inNamespace(suite, "mode-sleep", NAMESPACE_OPTIONS, async (namespace) => {
      const annotations = { "lastcall.dev/mode": "sleep", "lastcall.dev/drain-delay": "12s" };
      await namespace.apply(sampleApp(namespace, { annotations }));
      await namespace.waitForRollout(`deployment/${APP}`);
      for (const { spec } of await namespace.pods(`app=${APP}`)) {
        expect(spec?.containers.map(({ name }) => name)).toEqual(["app"]);
        expect(spec?.containers[0]?.lifecycle?.preStop).toEqual({ sleep: { seconds: 12 } });
        expect(spec?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(42);
      }
      const flags = { "pool-life-ms": 6_000 };
      const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace), flags);
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });
});
