/** Tests terminations of Pods without a rollout: scale-down, node drain, late hooks, short grace periods. */
import type { KubernetesListObject, V1Pod, V1PodDisruptionBudget } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { expectInjectedPods, nameOf } from "../client/injected-pods.ts";
import { install, OPT_IN } from "../client/installation.ts";
import { clusterIp, startLoadOn, sumOf } from "../client/load.ts";
import { drainReport, followLog, loggedAtMs, MANAGER } from "../client/pod-log.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { suspendShimOf } from "../client/runtime-shim.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { type LoadSum, MIN_REQUESTS, underLoad } from "../client/under-load.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };

describe("no request fails under mixed load", () => {
  test("when a Deployment is scaled down", async () => {
    await inNamespace(suite, "scale-down", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace, { replicas: 3 }));
      await namespace.waitForRollout(`deployment/${APP}`);
      await expectInjectedPods(namespace, `app=${APP}`);
      const { requests, failed } = await underLoad(namespace, async () => {
        await namespace.kubectl.run(["scale", `deployment/${APP}`, "--replicas=1"]);
        await namespace.kubectl.run(["wait", "--for=jsonpath={.status.replicas}=1", `deployment/${APP}`]);
      });
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });

  test("when kubectl drains a node that runs lastcall's own Pods", async () => {
    await inNamespace(suite, "node-drain", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply([...sampleApp(namespace), disruptionBudget(namespace)]);
      await namespace.waitForRollout(`deployment/${APP}`);
      await expectInjectedPods(namespace, `app=${APP}`);
      const node = await findWebhookNode(namespace);
      try {
        let drainOutput = "";
        const { requests, failed } = await underLoad(namespace, async () => {
          // The selector excludes the load clients from the eviction.
          const drainArgs = ["drain", node, "--pod-selector=role!=load", "--timeout=150s"];
          drainOutput = await namespace.clusterKubectl.run(drainArgs);
        });
        namespace.saveArtifact("drain.txt", drainOutput);
        expect(drainOutput).toMatch(/pod\/lastcall-.* evicted/);
        expect(drainOutput).toMatch(/pod\/web-.* evicted/);
        expect(requests).toBeGreaterThan(MIN_REQUESTS);
        expect(failed).toBe(0);
        const remainingPods = await namespace.pods(`app=${APP}`);
        expect(remainingPods.filter((pod) => pod.spec?.nodeName === node).map(nameOf)).toEqual([]);
      } finally {
        await namespace.clusterKubectl.run(["uncordon", node]);
      }
    });
  });

  // The case suspends a process of the container runtime, so the runtime must run on this host.
  test.skipIf(suite.context !== undefined)(
    "when the node is so busy that the manager's own hook starts 4 s late",
    async () => {
      await inNamespace(suite, "busy-node", NAMESPACE_OPTIONS, async (namespace) => {
        await namespace.apply(sampleApp(namespace));
        await namespace.waitForRollout(`deployment/${APP}`);
        const [pod] = await expectInjectedPods(namespace, `app=${APP}`);
        if (pod === undefined) throw new Error(`Namespace ${namespace.name} has no Pod.`);
        const [app, manager] = ["app", MANAGER].map((container) => followLog(namespace, nameOf(pod), container));
        if (app === undefined || manager === undefined) throw new Error(`Pod ${nameOf(pod)}: no log is followed.`);
        let deletedAtMs = 0;
        const { requests, failed } = await underLoad(namespace, async () => {
          const shim = suspendShimOf(pod);
          try {
            deletedAtMs = await deletePod(namespace, nameOf(pod));
            await pauseMs(4_000);
          } finally {
            shim.resume();
          }
          await loggedAtMs(app, "SIGTERM", 60);
        });
        const report = await drainReport(manager);
        namespace.saveArtifact("report.json", JSON.stringify(report, null, 2));
        // A call of the app's hook could be due to a container's restart. The relay's status proves the Pod's termination, and
        // arrives before the manager's own hook is called.
        expect(report).toMatchObject({ outcome: "drained", trigger: "relay" });
        expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(5_000);
        expect(await loggedAtMs(app, "SIGTERM")).toBeGreaterThanOrEqual(deletedAtMs + 5_000);
        expect(requests).toBeGreaterThan(MIN_REQUESTS);
        expect(failed).toBe(0);
      });
    },
  );
});

// The case suspends a process of the container runtime, so the runtime must run on this host.
describe.skipIf(suite.context !== undefined)(
  "a Pod in no EndpointSlice, on a node that starts the manager's own hook 4 s late",
  () => {
    test("starts its drain at the app's hook, because the relay reads that the Pod is terminating", async () => {
      await inNamespace(suite, "late-hook-read", NAMESPACE_OPTIONS, async (namespace) => {
        const { report, appSignalMs } = await drainWithLateHook(namespace);
        expect(report).toMatchObject({ outcome: "drained", trigger: "relay" });
        expect(appSignalMs).toBeGreaterThanOrEqual(5_000);
      });
    });
  },
);

describe("if the relay is not allowed to read Pods", () => {
  beforeAll(() => install(suite, { relay: { readPods: false } }), 400_000);
  afterAll(() => install(suite), 400_000);

  test.skipIf(suite.context !== undefined)(
    "a Pod in no EndpointSlice drains for its whole drain delay after the late call of the manager's own hook",
    async () => {
      await inNamespace(suite, "late-hook", NAMESPACE_OPTIONS, async (namespace) => {
        const { report, appSignalMs } = await drainWithLateHook(namespace);
        expect(report).toMatchObject({ outcome: "drained", trigger: "hook" });
        expect(appSignalMs).toBeGreaterThanOrEqual(9_000);
      });
    },
  );

  test("a drain that is longer than the Pod's grace period ends with the grace period and the outcome `forced`", async () => {
    await inNamespace(suite, "short-grace", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply([barePod(namespace, APP, [appContainer(namespace)])]);
      await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${APP}`, "--timeout=60s"]);
      await expectInjectedPods(namespace);
      const appLog = followLog(namespace, APP, "app");
      const managerLog = followLog(namespace, APP, MANAGER);
      await appLog.waitFor("started");
      const deletedAtMs = await deletePod(namespace, APP, 3);
      expect(await loggedAtMs(appLog, "SIGTERM")).toBeGreaterThanOrEqual(deletedAtMs + 3_000);
      const report = await drainReport(managerLog);
      expect(report).toMatchObject({ phase: "done", outcome: "forced", trigger: "hook" });
      // The grace period is shorter than the drain delay.
      expect(report.milliseconds.withdrawing).toBeLessThan(5_000);
      await namespace.waitForTerminations("", 30);
    });
  });
});

describe("the only Pod of a Deployment", () => {
  test("with the strategy Recreate accepts new connections until the end of its drain", async () => {
    await inNamespace(suite, "sole-pod", NAMESPACE_OPTIONS, async (namespace) => {
      const annotations = { "lastcall.dev/drain-timeout": "15s" };
      await namespace.apply(sampleApp(namespace, { replicas: 1, annotations, strategy: { type: "Recreate" } }));
      await namespace.waitForRollout(`deployment/${APP}`);
      const [pod] = await expectInjectedPods(namespace, `app=${APP}`);
      if (pod === undefined) throw new Error(`Namespace ${namespace.name} has no Pod.`);
      const app = followLog(namespace, nameOf(pod), "app");
      const manager = followLog(namespace, nameOf(pod), MANAGER);
      await app.waitFor("started");
      const { requests, failed } = await loadDuringRestart(namespace);
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
      // The clients send requests until the load is stopped, so the criterion `quiet` cannot end the drain earlier.
      expect((await drainReport(manager)).milliseconds.withdrawing).toBeGreaterThanOrEqual(5_000);
      await namespace.waitForRollout(`deployment/${APP}`);
    });
  });
});

/** Deletes a Pod without Services on a node that starts the manager's own hook 4 s late. `appSignalMs` is the time from the deletion to the app's stop signal. */
async function drainWithLateHook(namespace: CaseNamespace) {
  await namespace.apply([barePod(namespace, APP, [appContainer(namespace)])]);
  await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${APP}`, "--timeout=60s"]);
  const [pod] = await expectInjectedPods(namespace);
  if (pod === undefined) throw new Error(`Namespace ${namespace.name} has no Pod.`);
  const app = followLog(namespace, APP, "app");
  const manager = followLog(namespace, APP, MANAGER);
  await app.waitFor("started");
  const shim = suspendShimOf(pod);
  let deletedAtMs = 0;
  try {
    deletedAtMs = await deletePod(namespace, APP);
    await pauseMs(4_000);
  } finally {
    shim.resume();
  }
  const report = await drainReport(manager);
  return { report, appSignalMs: (await loggedAtMs(app, "SIGTERM")) - deletedAtMs };
}

function disruptionBudget(namespace: CaseNamespace): V1PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: APP, namespace: namespace.name },
    spec: { minAvailable: 1, selector: { matchLabels: { app: APP } } },
  };
}

/** Returns a node that runs Pods of lastcall itself. */
async function findWebhookNode({ clusterKubectl }: CaseNamespace): Promise<string> {
  const getPods = ["--namespace", RELEASE_NAMESPACE, "get", "pods"];
  const { items } = await clusterKubectl.json<KubernetesListObject<V1Pod>>(getPods);
  // Old Pods of a rollout that has just completed may still be terminating.
  const runningPods = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const [node] = runningPods.map(({ spec }) => spec?.nodeName ?? "").sort();
  if (node === undefined) throw new Error(`Namespace ${RELEASE_NAMESPACE} has no running Pod.`);
  return node;
}

/** Deletes the Pod, and resolves with the time just before the request once the API server has accepted it. */
async function deletePod(namespace: CaseNamespace, pod: string, graceSeconds?: number): Promise<number> {
  const beforeMs = Date.now();
  const graceFlags = graceSeconds === undefined ? [] : [`--grace-period=${graceSeconds}`];
  await namespace.kubectl.run(["delete", "pod", pod, "--wait=false", ...graceFlags]);
  return beforeMs;
}

/** Runs load during a restart. The load ends well before the Pod's deadline, after which no Pod would answer. */
async function loadDuringRestart(namespace: CaseNamespace): Promise<LoadSum> {
  const target = { host: await clusterIp(namespace, APP), port: 80 };
  const loads = await Promise.all(suite.nodes.map((node) => startLoadOn(namespace, node, target)));
  await namespace.kubectl.run(["rollout", "restart", `deployment/${APP}`]);
  await waitUntil({ condition: "the only Pod is terminating", withinMs: 30_000 }, async () =>
    (await namespace.pods(`app=${APP}`)).some(({ metadata }) => metadata?.deletionTimestamp !== undefined)
      ? true
      : undefined,
  );
  await pauseMs(10_000);
  return sumOf(await Promise.all(loads.map((load) => load.stop())));
}
