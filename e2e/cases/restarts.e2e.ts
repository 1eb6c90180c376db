/** Tests that the restart of a container in a running Pod does not cause a drain. */
import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { drainReport, followLog, loggedAtMs, MANAGER } from "../client/pod-log.ts";
import { APP_PORT, appContainer, barePod, nodeContainer } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };

const HTTP_DRIVER_ANNOTATIONS = {
  "lastcall.dev/drain-url": "http://127.0.0.1:8080/drain",
  "lastcall.dev/active-url": "http://127.0.0.1:8080/active",
};
const LIVENESS_PROBE = { httpGet: { path: "/live", port: APP_PORT }, periodSeconds: 1, failureThreshold: 1 };

describe("an app that fails its liveness probe", () => {
  test("is restarted without a drain, at most 6 s later than without lastcall, and drains at the Pod's deletion", async () => {
    await inNamespace(suite, "liveness", NAMESPACE_OPTIONS, async (namespace) => {
      const container = appContainer(namespace, { livenessProbe: LIVENESS_PROBE });
      const optOutLabels = { "lastcall.dev/inject": "disabled" };
      await namespace.apply([
        barePod(namespace, "with", [container], { annotations: HTTP_DRIVER_ANNOTATIONS, labels: { injected: "yes" } }),
        barePod(namespace, "without", [container], { labels: optOutLabels }),
      ]);
      await namespace.kubectl.run(["wait", "--for=condition=Ready", "pod/with", "pod/without", "--timeout=60s"]);
      await expectInjectedPods(namespace, "injected=yes");
      const managerLog = followLog(namespace, "with", MANAGER);
      const [delayWithoutMs, delayWithMs] = await Promise.all([
        measureStopDelay(namespace, "without"),
        measureStopDelay(namespace, "with"),
      ]);
      namespace.addTimelineLine(`SIGTERM after ${delayWithMs} ms with and ${delayWithoutMs} ms without lastcall`);
      expect(delayWithMs - delayWithoutMs).toBeLessThanOrEqual(6_000);

      const restartReport = JSON.parse(await managerLog.waitFor('"restarted"'));
      expect(restartReport).toMatchObject({ phase: "idle", outcome: "restarted", trigger: "none" });
      await waitForRestarts(namespace, "with", "app", 1);
      const appLog = followLog(namespace, "with", "app");
      await appLog.waitFor("started");
      const previousLog = await namespace.kubectl.run(["logs", "with", "--container=app", "--previous"]);
      expect(previousLog).toContain("SIGTERM");
      expect(previousLog).not.toContain("drain requested");

      await namespace.kubectl.run(["delete", "pod", "with", "--wait=false"]);
      expect(await drainReport(managerLog)).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      await appLog.whenClosed;
      expect(appLog.lines().filter((line) => line.includes("drain requested"))).toHaveLength(1);
    });
  });
});

describe("an app in a crash loop", () => {
  test("is restarted as without lastcall while the manager continues, and its Pod terminates immediately", async () => {
    await inNamespace(suite, "crash-loop", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply([
        barePod(namespace, "crashing", [nodeContainer(namespace, "app", ["-e", "process.exit(1)"])]),
      ]);
      await waitForRestarts(namespace, "crashing", "app", 2);
      const [pod] = await expectInjectedPods(namespace);
      expect(statusOf(pod, MANAGER)).toMatchObject({ restartCount: 0 });
      expect(statusOf(pod, MANAGER)?.state?.running).toBeDefined();
      const manager = followLog(namespace, "crashing", MANAGER);
      await manager.waitFor("listening");
      await namespace.kubectl.run(["delete", "pod", "crashing", "--wait=false"]);
      expect(await drainReport(manager)).toMatchObject({ outcome: "not-needed" });
      await namespace.waitForTerminations("", 30);
    });
  });
});

/** Measures the time from the first failed liveness probe to the stop signal, by the app's clock. */
async function measureStopDelay(namespace: CaseNamespace, pod: string): Promise<number> {
  const app = followLog(namespace, pod, "app");
  await app.waitFor("started");
  const script = `fetch("http://127.0.0.1:${APP_PORT}/fail-liveness", { method: "POST" })`;
  await namespace.kubectl.run(["exec", pod, "--container=app", "--", "/usr/local/bin/node", "-e", script]);
  const failedAtMs = await loggedAtMs(app, "failed its liveness probe");
  return (await loggedAtMs(app, "SIGTERM")) - failedAtMs;
}

async function waitForRestarts(namespace: CaseNamespace, pod: string, container: string, count: number): Promise<void> {
  await waitUntil({ condition: `${container} of ${pod} was restarted ${count} times`, withinMs: 90_000 }, async () => {
    const foundPod = await namespace.kubectl.json<V1Pod>(["get", "pod", pod]);
    return (statusOf(foundPod, container)?.restartCount ?? 0) >= count ? true : undefined;
  });
}

function statusOf(pod: V1Pod | undefined, container: string): V1ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
}
