/** Tests that the manager preserves the QoS class of its Pod and observes the limits of the namespace. */
import type { KubernetesObject, V1Container, V1Pod, V1ResourceRequirements } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { createAndDrain, DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { dryRunCreate } from "../client/create-pods.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
const SHORT_DRAIN = { "lastcall.dev/drain-delay": "1s", "lastcall.dev/quiet-period": "1s" };

const EQUAL_RESOURCES = { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "100m", memory: "128Mi" } };
const UNEQUAL_RESOURCES = { requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "200m", memory: "128Mi" } };

describe("the QoS class", () => {
  for (const [qos, resources] of [
    ["Guaranteed", EQUAL_RESOURCES],
    ["Burstable", { requests: { memory: "64Mi" } }],
    ["BestEffort", {}],
  ] as const) {
    test(`${qos} is unchanged on the Pod and on its node, and the manager has enough resources to drain`, async () => {
      await inNamespace(suite, `qos-${qos.toLowerCase()}`, NAMESPACE_OPTIONS, async (namespace) => {
        const { pod, report, warnings } = await createAndDrain(namespace, sizedPod(namespace, resources));
        expect(pod.status?.qosClass).toBe(qos);
        expect(warnings).toEqual([]);
        expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      });
    });
  }
});

describe("Pod-level resources", () => {
  test("include the manager if they are sufficient, otherwise the manager requests no resources and a problem is reported", async () => {
    await inNamespace(suite, "pod-level", NAMESPACE_OPTIONS, async (namespace) => {
      const { pod, report, warnings } = await createAndDrain(
        namespace,
        sizedPod(namespace, {}, { resources: EQUAL_RESOURCES }),
      );
      expect(pod.status?.qosClass).toBe("Guaranteed");
      expect(managerOf(pod).resources).not.toEqual({});
      expect(warnings).toEqual([]);
      expect(report).toMatchObject({ outcome: "drained" });
      const fullResources = { requests: { cpu: "50m", memory: "64Mi" } };
      const result = await dryRunCreate(namespace.kubectl, [
        sizedPod(namespace, fullResources, { resources: fullResources }),
      ]);
      expect(result.pods.map((one) => managerOf(one).resources)).toEqual([{}]);
      expect(result.warnings.join("\n")).toContain("Leaves no room for");
    });
  });
});

describe("a LimitRange", () => {
  test("with a minimum raises the manager's resources to this minimum, and the Pod runs", async () => {
    await inNamespace(suite, "limit-range", NAMESPACE_OPTIONS, async (namespace) => {
      const minResources = { cpu: "20m", memory: "32Mi" };
      await namespace.apply([limitRange(namespace, { min: minResources, max: { cpu: "1", memory: "512Mi" } })]);
      const manifest = sizedPod(namespace, UNEQUAL_RESOURCES);
      await waitForLimitRange(namespace, async () => {
        const [pod] = (await dryRunCreate(namespace.kubectl, [manifest])).pods;
        return pod !== undefined && managerOf(pod).resources?.requests?.["memory"] === minResources.memory;
      });
      const { pod, report } = await createAndDrain(namespace, manifest);
      expect(managerOf(pod).resources?.requests).toEqual(minResources);
      expect(report).toMatchObject({ outcome: "drained" });
    });
  });

  test("that leaves no resources for a manager keeps the Pod unchanged, with a warning", async () => {
    await inNamespace(suite, "limit-range-small", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply([limitRange(namespace, { max: { cpu: "1", memory: "8Mi" } })]);
      const manifest = sizedPod(namespace, { limits: { cpu: "100m", memory: "8Mi" } });
      const warnings = await waitForLimitRange(namespace, async () => {
        const { status, stderr } = await namespace.kubectl.attempt(
          ["create", "--dry-run=server", "--filename=-"],
          JSON.stringify(manifest),
        );
        return status === 0 ? stderr : false;
      });
      expect(warnings).toContain("a LimitRange of the namespace leaves no room for the manager");
    });
  });

  test("with defaults applies the defaults to the manager if the Pod does not set resources", async () => {
    await inNamespace(suite, "limit-range-defaults", NAMESPACE_OPTIONS, async (namespace) => {
      const amounts = { cpu: "50m", memory: "64Mi" };
      await namespace.apply([limitRange(namespace, { default: amounts, defaultRequest: amounts })]);
      const { pod, report } = await createAndDrain(namespace, sizedPod(namespace, {}));
      expect(pod.status?.qosClass).toBe("Guaranteed");
      expect(report).toMatchObject({ outcome: "drained" });
    });
  });
});

describe("a ResourceQuota for every resource", () => {
  test("admits the Pods of a Deployment whose own containers set every resource", async () => {
    await inNamespace(suite, "quota", NAMESPACE_OPTIONS, async (namespace) => {
      const hard = {
        "requests.cpu": "1",
        "requests.memory": "1Gi",
        "limits.cpu": "2",
        "limits.memory": "2Gi",
        pods: "10",
      };
      const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "all" }, spec: { hard } };
      await namespace.apply([quota]);
      for (const resources of [EQUAL_RESOURCES, UNEQUAL_RESOURCES]) {
        await namespace.apply(sampleApp(namespace, { container: { resources }, annotations: SHORT_DRAIN }));
        await namespace.waitForRollout(`deployment/${APP}`);
        const pods = await namespace.pods(`app=${APP}`);
        for (const pod of pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)) managerOf(pod);
      }
    });
  });
});

/** Waits until lastcall's watch has delivered a new LimitRange. */
function waitForLimitRange<T>(namespace: CaseNamespace, attempt: () => Promise<T | false>): Promise<T> {
  const condition = `lastcall has received the LimitRange of ${namespace.name}`;
  return waitUntil({ condition, withinMs: 30_000, everyMs: 300 }, async () => {
    const result = await attempt();
    return result === false ? undefined : result;
  });
}

function sizedPod(
  namespace: CaseNamespace,
  resources: V1ResourceRequirements,
  pod: Partial<V1Pod["spec"]> = {},
): V1Pod {
  const container: V1Container = appContainer(namespace, { resources });
  return barePod(namespace, APP, [container], { annotations: SHORT_DRAIN, pod: { ...pod } });
}

function limitRange(namespace: CaseNamespace, amounts: Readonly<Record<string, unknown>>): KubernetesObject {
  const limits = [{ type: "Container", ...amounts }];
  const metadata = { name: "container", namespace: namespace.name };
  return { apiVersion: "v1", kind: "LimitRange", metadata, ...{ spec: { limits } } };
}
