/** Tests warnings in kubectl, Events on owners and counts in the metrics, and that dry runs do not cause Events or changes of objects. */
import type {
  CoreV1Event,
  KubernetesListObject,
  KubernetesObject,
  V1Deployment,
  V1Pod,
  V1ReplicaSet,
} from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { createPod, dryRunCreate } from "../client/create-pods.ts";
import { expectInjectedPods, managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { APP, appContainer, barePod, nodeContainer, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { readSamples, sumOfSamples } from "../client/webhook-metrics.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
const INVALID_TIMEOUT = { "lastcall.dev/drain-timeout": "90" };

describe("an invalid value of an annotation", () => {
  test("is replaced by the default, with a warning for the client and an Event on the Pod's owner", async () => {
    await inNamespace(suite, "bad-value", NAMESPACE_OPTIONS, async (namespace) => {
      const { pods, warnings } = await createPod(
        namespace.kubectl,
        barePod(namespace, "by-hand", [appContainer(namespace)], { annotations: INVALID_TIMEOUT }),
      );
      expect(warnings.join("\n")).toMatch(/^lastcall: pod by-hand, lastcall\.dev\/drain-timeout: .*"90"/);
      for (const pod of pods) expect(managerOf(pod).args).toContain("--drain-timeout=60s");

      await namespace.apply(sampleApp(namespace, { replicas: 1, annotations: INVALID_TIMEOUT }));
      const event = await waitForEvent(namespace, "BadValue");
      expect(event).toMatchObject({
        type: "Warning",
        involvedObject: { kind: "ReplicaSet" },
        source: { component: "lastcall" },
      });
      expect(event.message).toContain('"90"');
      expect(event.involvedObject.name).toMatch(new RegExp(`^${APP}-`));
      await namespace.waitForRollout(`deployment/${APP}`);
      for (const pod of await expectInjectedPods(namespace, `app=${APP}`)) {
        expect(managerOf(pod).args).toContain("--drain-timeout=60s");
      }
    });
  });
});

describe("a Pod on its node's network", () => {
  test("runs unchanged, and the warning, the Event and the metrics contain the reason", async () => {
    await inNamespace(suite, "host-network", NAMESPACE_OPTIONS, async (namespace) => {
      const readCounts = () =>
        readSamples(namespace.clusterKubectl, "lastcall_admissions_total", [
          'reason="host_network"',
          'dry_run="false"',
        ]);
      const before = sumOfSamples(await readCounts());
      // Port 0 selects a free port, so that two Pods on one node do not conflict.
      const env = [{ name: "PORT", value: "0" }];
      const container = { ...nodeContainer(namespace, "app", ["/app/lifecycle-app.mjs"]), env };
      const { warnings } = await createPod(
        namespace.kubectl,
        barePod(namespace, "by-hand", [container], { pod: { hostNetwork: true } }),
      );
      // The first warning has the decision, the second the field that caused it.
      expect(warnings).toEqual([
        expect.stringContaining("not injected: with hostNetwork"),
        expect.stringContaining("spec.hostNetwork"),
      ]);
      const pod = { hostNetwork: true, containers: [container] };
      await namespace.apply(sampleApp(namespace, { replicas: 1, pod }));
      const event = await waitForEvent(namespace, "NotInjected");
      expect(event).toMatchObject({ type: "Warning", involvedObject: { kind: "ReplicaSet" } });
      expect(event.message).toContain("(host_network)");
      await namespace.waitForRollout(`deployment/${APP}`);
      await namespace.kubectl.run(["wait", "--for=condition=Ready", "pod/by-hand", "--timeout=60s"]);
      for (const { spec } of await namespace.pods()) {
        expect(spec?.initContainers ?? []).toEqual([]);
        expect(spec?.containers.map(({ name }) => name)).toEqual(["app"]);
      }
      expect(sumOfSamples(await readCounts())).toBe(before + 2);
    });
  });
});

describe("a dry run", () => {
  test("of a creation, of kubectl apply or of kubectl diff does not write an Event or change a stored object", async () => {
    await inNamespace(suite, "no-trace", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace, { replicas: 1 }));
      await namespace.waitForRollout(`deployment/${APP}`);
      const [running] = await expectInjectedPods(namespace, `app=${APP}`);
      const before = await waitForStableObjects(namespace);
      // Without the dry run each Pod would cause an Event on its owner.
      const pods = [{ hostNetwork: true }, {}].map((pod, at) => podOwnedBy(namespace, running, `probe-${at}`, pod));
      expect((await dryRunCreate(namespace.kubectl, pods)).pods).toHaveLength(2);
      await expectDiff(namespace, sampleApp(namespace, { replicas: 1 }), 0);
      await expectDiff(namespace, [barePod(namespace, "new", [appContainer(namespace)])], 1);
      await namespace.kubectl.run(["apply", "--dry-run=server", "--filename=-"], JSON.stringify(pods[1]));
      // Events are written asynchronously in order, so the Event of a real creation comes after those of earlier requests.
      await createPod(namespace.kubectl, podOwnedBy(namespace, running, "meant", { hostNetwork: true }));
      await waitForEvent(namespace, "NotInjected");
      await pauseMs(1_000);
      const events = (await listEvents(namespace)).filter(({ source }) => source?.component === "lastcall");
      expect(events.map(({ reason, count }) => [reason, count]).sort()).toEqual([
        ["BadValue", 1],
        ["NotInjected", 1],
      ]);
      for (const { message } of events) expect(message).toContain("meant");
      expect(withoutPod(await readObjects(namespace), "meant")).toEqual(withoutPod(before, "meant"));
    });
  });
});

/** @param status the expected exit status: 0 without a difference, 1 with a difference */
async function expectDiff(
  namespace: CaseNamespace,
  objects: readonly KubernetesObject[],
  status: 0 | 1,
): Promise<void> {
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const diff = await namespace.kubectl.attempt(["diff", "--server-side", "--force-conflicts", "--filename=-"], list);
  expect([diff.status, diff.stderr]).toEqual([status, ""]);
  if (status === 1) expect(diff.output).toContain("/lastcall");
}

/** Builds a Pod with another Pod's owner reference, but without that Pod's labels, so that the owner's controller releases the new Pod. */
function podOwnedBy(
  namespace: CaseNamespace,
  sibling: V1Pod | undefined,
  name: string,
  pod: Partial<V1Pod["spec"]>,
): V1Pod {
  const manifest = barePod(namespace, name, [nodeContainer(namespace, "app", ["-e", "setTimeout(() => {}, 60000)"])], {
    annotations: INVALID_TIMEOUT,
    ...(pod === undefined ? {} : { pod }),
  });
  return { ...manifest, metadata: { ...manifest.metadata, ownerReferences: sibling?.metadata?.ownerReferences ?? [] } };
}

function readObjects(namespace: CaseNamespace): Promise<string> {
  return namespace.kubectl.run(["get", "deployments,replicasets,pods", "--output=json", "--show-managed-fields"]);
}

/** Waits for the controllers' last writes after a completed rollout. */
function waitForStableObjects(namespace: CaseNamespace): Promise<string> {
  let previousObjects = "";
  return waitUntil({ condition: "the objects no longer change", withinMs: 60_000, everyMs: 2_000 }, async () => {
    const before = previousObjects;
    previousObjects = await readObjects(namespace);
    return previousObjects === before ? previousObjects : undefined;
  });
}

function withoutPod(list: string, name: string): readonly unknown[] {
  const { items }: KubernetesListObject<V1Deployment | V1ReplicaSet | V1Pod> = JSON.parse(list);
  return items.filter(({ metadata }) => metadata?.name !== name);
}

async function listEvents(namespace: CaseNamespace): Promise<readonly CoreV1Event[]> {
  return (await namespace.kubectl.json<KubernetesListObject<CoreV1Event>>(["get", "events"])).items;
}

function waitForEvent(namespace: CaseNamespace, reason: string): Promise<CoreV1Event> {
  return waitUntil({ condition: `an Event ${reason} exists`, withinMs: 30_000, everyMs: 300 }, async () =>
    (await listEvents(namespace)).find((event) => event.reason === reason),
  );
}
