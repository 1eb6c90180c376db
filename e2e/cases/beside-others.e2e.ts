/** Tests static Pods, which the kubelet creates, and a second webhook that changes Pods. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { createAndDrain, DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { APP, appContainer, barePod } from "../client/sample-app.ts";
import { startStrippingWebhook } from "../client/second-webhook.ts";
import { readSuite } from "../client/suite.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };

// Requires the suite's own cluster: only its nodes read files of this host and connect to a webhook on it.
describe.skipIf(suite.context !== undefined)("lastcall beside other components of the cluster", () => {
  test("does not change a static Pod's mirror Pod, and the static Pod runs", async () => {
    await inNamespace(suite, "static-pod", NAMESPACE_OPTIONS, async (namespace) => {
      const [node] = suite.nodes;
      const file = join(stateFolder().staticPodsOf(node), `${namespace.name}.json`);
      const manifest = barePod(namespace, APP, [appContainer(namespace)]);
      writeFileSync(file, JSON.stringify(manifest));
      try {
        const name = `${APP}-${node}`;
        const mirrorPod = await waitUntil(
          { condition: "the mirror Pod is ready", withinMs: 90_000, everyMs: 300 },
          async () => {
            const pod = await namespace.kubectl.json<V1Pod>(["get", "pod", name]);
            return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")
              ? pod
              : undefined;
          },
        );
        expect(mirrorPod.metadata?.annotations?.["kubernetes.io/config.mirror"]).toBeDefined();
        expect(mirrorPod.metadata?.annotations?.["lastcall.dev/status"]).toBeUndefined();
        expect(mirrorPod.spec?.initContainers ?? []).toEqual([]);
        expect(mirrorPod.spec?.containers.map(({ name, lifecycle }) => [name, lifecycle])).toEqual([
          ["app", undefined],
        ]);
      } finally {
        rmSync(file);
        await waitUntil({ condition: "the static Pod is deleted", withinMs: 90_000, everyMs: 300 }, async () =>
          (await namespace.pods()).length === 0 ? true : undefined,
        );
      }
    });
  });

  test("restores, with a warning, a restartPolicy that a second webhook removes", async () => {
    await inNamespace(suite, "stripped", NAMESPACE_OPTIONS, async (namespace) => {
      const secondWebhook = await startStrippingWebhook(namespace);
      try {
        const annotations = { "lastcall.dev/drain-delay": "1s" };
        const { pod, warnings, report } = await createAndDrain(
          namespace,
          barePod(namespace, APP, [appContainer(namespace)], { annotations }),
        );
        expect(secondWebhook.strippedCount()).toBe(1);
        expect(managerOf(pod).restartPolicy).toBe("Always");
        expect(pod.spec?.initContainers).toHaveLength(1);
        expect(warnings.join("\n")).toContain("Another webhook removed restartPolicy: Always");
        expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      } finally {
        await secondWebhook.close();
      }
    });
  });
});
