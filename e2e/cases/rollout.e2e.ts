import { afterAll, describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { install, OPT_IN } from "../client/installation.ts";
import { APP, HTTP_DRIVER_ANNOTATIONS, sampleApp, sampleStatefulSet } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };

describe("no request fails in a rollout across two nodes under mixed load", () => {
  test("with the native manager", async () => {
    await inNamespace(suite, "rollout", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace));
      await namespace.waitForRollout(`deployment/${APP}`);
      for (const pod of await expectInjectedPods(namespace, `app=${APP}`)) {
        expect(pod.spec?.initContainers?.map(({ name }) => name)).toEqual(["lastcall"]);
      }
      const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace));
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });

  test("of a StatefulSet, whose Pods terminate before their replacements start", async () => {
    await inNamespace(suite, "rollout-stateful", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleStatefulSet(namespace));
      await namespace.waitForRollout(`statefulset/${APP}`);
      await expectInjectedPods(namespace, `app=${APP}`);
      const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace, `statefulset/${APP}`));
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });

  test("with endless clients if the app can disconnect the clients", async () => {
    await inNamespace(suite, "rollout-endless", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace, { annotations: HTTP_DRIVER_ANNOTATIONS }));
      await namespace.waitForRollout(`deployment/${APP}`);
      await expectInjectedPods(namespace, `app=${APP}`);
      const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace), { endless: 6 });
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });

  describe("with the manager's Node build", () => {
    afterAll(() => install(suite));

    test("instead of the native build", async () => {
      await install(suite, {}, "lastcall-manager-node");
      await inNamespace(suite, "rollout-node", NAMESPACE_OPTIONS, async (namespace) => {
        await namespace.apply(sampleApp(namespace));
        await namespace.waitForRollout(`deployment/${APP}`);
        for (const pod of await expectInjectedPods(namespace, `app=${APP}`)) {
          expect(pod.spec?.initContainers?.[0]?.image).toContain("lastcall-manager-node");
        }
        const { requests, failed } = await underLoad(namespace, () => restartRollout(namespace));
        expect(requests).toBeGreaterThan(MIN_REQUESTS);
        expect(failed).toBe(0);
      });
    });
  });
});
