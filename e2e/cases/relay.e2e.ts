/** Tests the relay on a real API server: managers receive the withdrawal of their Pods, and users see the results of drains. */
import type { CoreV1Event, KubernetesListObject, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { runLastcall } from "../client/command-line.ts";
import { DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { expectInjectedPods, nameOf } from "../client/injected-pods.ts";
import { OPT_IN, waitForInjection } from "../client/installation.ts";
import { createManualSlice } from "../client/own-slice.ts";
import { drainReport, followLog, loggedAtMs, MANAGER } from "../client/pod-log.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { deleteForReport, startBehindService } from "../client/running-app.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { readSamples, sumOfSamples } from "../client/webhook-metrics.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
const SHORT_DRAIN = { "lastcall.dev/drain-delay": "1s", "lastcall.dev/quiet-period": "1s" };
const WEBHOOK_DEPLOYMENT_ARGS = ["--namespace", RELEASE_NAMESPACE, "deployment/lastcall-webhook"];

describe("a Pod that its Services withdraw at different times", () => {
  test("gets its stop signal after the last withdrawal, and its report has the time of the withdrawal", async () => {
    await inNamespace(suite, "relay-lag", NAMESPACE_OPTIONS, async (namespace) => {
      const runningApp = await startBehindService(namespace, { annotations: SHORT_DRAIN });
      const slice = await createManualSlice(namespace, "slow", runningApp.pod);
      const pendingReport = deleteForReport(namespace, runningApp);
      await runningApp.managerLog.waitFor('"phase":"withdrawing"');
      const fromMs = Date.now();
      await pauseMs(8_000);
      expect(runningApp.appLog.lines().join("\n")).not.toContain("SIGTERM");
      await slice.setConditions({ ready: false, serving: true, terminating: true });
      const report = await pendingReport;
      expect(report).toMatchObject({ outcome: "drained", relay: "withdrawn" });
      expect(report.withdrawnAfterMs).toBeGreaterThanOrEqual(8_000);
      expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(8_000);
      expect(report.trigger).toEqual(DELETION_TRIGGER);
      expect(await loggedAtMs(runningApp.appLog, "SIGTERM")).toBeGreaterThanOrEqual(fromMs + 8_000);
    });
  });

  test("gets its stop signal at the deadline if it is not withdrawn, and its report contains the Service's name", async () => {
    await inNamespace(suite, "relay-never", NAMESPACE_OPTIONS, async (namespace) => {
      const annotations = { ...SHORT_DRAIN, "lastcall.dev/drain-timeout": "8s" };
      const runningApp = await startBehindService(namespace, { annotations });
      await createManualSlice(namespace, "stuck", runningApp.pod);
      const report = await deleteForReport(namespace, runningApp);
      expect(report).toMatchObject({ outcome: "timeout", relay: "offered", withdrawnAfterMs: -1 });
      expect(report.why).toContain("stuck");
    });
  });
});

test("a Pod that the kubelet stops without a deletion waits only for its drain delay, although an EndpointSlice has it as a ready endpoint", async () => {
  await inNamespace(suite, "relay-kubelet", NAMESPACE_OPTIONS, async (namespace) => {
    const pod = { activeDeadlineSeconds: 15, restartPolicy: "Always" };
    const manifest = barePod(namespace, APP, [appContainer(namespace)], { annotations: SHORT_DRAIN, pod });
    await namespace.apply([manifest]);
    await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${APP}`, "--timeout=60s"]);
    const [runningPod] = await expectInjectedPods(namespace);
    if (runningPod === undefined) throw new Error(`Namespace ${namespace.name} has no Pod.`);
    await createManualSlice(namespace, "unaware", runningPod);
    const managerLog = followLog(namespace, APP, MANAGER);
    const report = await drainReport(managerLog, 90);
    namespace.saveArtifact("report.json", JSON.stringify(report, null, 2));
    expect(report).toMatchObject({ outcome: "drained", relay: "not_terminating", withdrawnAfterMs: -1 });
    expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(5_000);
    // The drain's deadline is more than a minute after its trigger, so this drain did not end at its deadline.
    expect(report.milliseconds.withdrawing).toBeLessThan(15_000);
  });
});

describe("if no relay is reachable", () => {
  test("drains end after their drain delay when the sockets are quiet, and their reports contain the failure", async () => {
    await inNamespace(suite, "relay-gone", NAMESPACE_OPTIONS, async (namespace) => {
      const runningApp = await startBehindService(namespace, { annotations: SHORT_DRAIN });
      await namespace.clusterKubectl.run(["scale", ...WEBHOOK_DEPLOYMENT_ARGS, "--replicas=0"]);
      try {
        await waitForNoWebhook(namespace);
        const report = await deleteForReport(namespace, runningApp);
        expect(report).toMatchObject({ outcome: "drained", trigger: "hook", withdrawnAfterMs: -1 });
        expect(report.relay).toMatch(/^unknown: /);
        expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(1_000);
        expect(report.milliseconds.withdrawing).toBeLessThan(5_000);
      } finally {
        await restoreWebhook(namespace);
      }
    });
  });

  test("a drain that waits for its Pod's withdrawal ends after its drain delay if every relay replica is gone", async () => {
    await inNamespace(suite, "relay-lost", NAMESPACE_OPTIONS, async (namespace) => {
      const runningApp = await startBehindService(namespace, { annotations: SHORT_DRAIN });
      await createManualSlice(namespace, "slow", runningApp.pod);
      const pendingReport = deleteForReport(namespace, runningApp);
      await runningApp.managerLog.waitFor('"phase":"withdrawing"');
      await pauseMs(4_000);
      expect(runningApp.appLog.lines().join("\n")).not.toContain("SIGTERM");
      const deleteFlags = ["--grace-period=1", "--wait=false", "--selector=app.kubernetes.io/component=webhook"];
      await namespace.clusterKubectl.run(["scale", ...WEBHOOK_DEPLOYMENT_ARGS, "--replicas=0"]);
      await namespace.clusterKubectl.run(["--namespace", RELEASE_NAMESPACE, "delete", "pods", ...deleteFlags]);
      try {
        const report = await pendingReport;
        expect(report).toMatchObject({ outcome: "drained" });
        expect(report.relay).toMatch(/^unknown: /);
        expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(4_000);
        expect(report.milliseconds.withdrawing).toBeLessThan(30_000);
      } finally {
        await restoreWebhook(namespace);
      }
    });
  });
});

describe("the drains of a rollout", () => {
  test("are each listed once by `lastcall drains`, one is drawn by `lastcall timeline`, and Events on the Pods' owner record them", async () => {
    await inNamespace(suite, "relay-people", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace, { replicas: 4, annotations: SHORT_DRAIN }));
      await namespace.waitForRollout(`deployment/${APP}`);
      const oldPodNames = (await expectInjectedPods(namespace, `app=${APP}`)).map(nameOf).sort();
      const before = sumOfSamples(
        await readSamples(namespace.clusterKubectl, "lastcall_drains_total", ['outcome="drained"']),
      );
      await namespace.kubectl.run(["rollout", "restart", `deployment/${APP}`]);
      await namespace.waitForRollout(`deployment/${APP}`);
      await namespace.waitForTerminations(`app=${APP}`);
      const drainsOutput = await runLastcall(suite, [
        "drains",
        "-n",
        namespace.name,
        "--lastcall-namespace",
        RELEASE_NAMESPACE,
        "--json",
      ]);
      const records: readonly DrainRecord[] = JSON.parse(drainsOutput.output).drains;
      namespace.saveArtifact("drains.json", drainsOutput.output);
      expect(records.map(({ pod }) => pod).sort()).toEqual(oldPodNames);
      expect(records.map(({ report }) => report.relay)).toEqual(oldPodNames.map(() => "withdrawn"));
      const after = sumOfSamples(
        await readSamples(namespace.clusterKubectl, "lastcall_drains_total", ['outcome="drained"']),
      );
      expect(after - before).toBe(oldPodNames.length);
      const namespaceFlags = ["-n", namespace.name, "--lastcall-namespace", RELEASE_NAMESPACE];
      const drainsTable = await runLastcall(suite, ["drains", ...namespaceFlags]);
      namespace.saveArtifact("drains.txt", drainsTable.output);
      for (const pod of oldPodNames) expect(drainsTable.output).toContain(pod.slice(-5));
      const timelineOutput = await runLastcall(suite, ["timeline", oldPodNames[0] ?? "", ...namespaceFlags]);
      namespace.saveArtifact("timeline-of-one.txt", timelineOutput.output);
      expect(timelineOutput.output).toContain(oldPodNames[0]);
      const { items } = await namespace.kubectl.json<KubernetesListObject<CoreV1Event>>(["get", "events"]);
      const drainedEvents = items.filter(({ reason }) => reason === "Drained");
      expect(drainedEvents.length).toBeGreaterThan(0);
      expect(new Set(drainedEvents.map(({ involvedObject }) => involvedObject.kind))).toEqual(new Set(["ReplicaSet"]));
    });
  });
});

describe("a relay with the default permission to read Pods", () => {
  test("sends the manager a shortened grace period, and the drain still leaves the app the time that is reserved for its stop", {
    timeout: 400_000,
  }, async () => {
    await inNamespace(suite, "relay-grace", NAMESPACE_OPTIONS, async (namespace) => {
      const annotations = { ...SHORT_DRAIN, "lastcall.dev/drain-timeout": "60s" };
      const pod = { terminationGracePeriodSeconds: 10 };
      const runningApp = await startBehindService(namespace, { annotations, pod });
      // In this slice the Pod stays a ready endpoint, so the drain would last for its complete drain timeout of a minute.
      await createManualSlice(namespace, "stuck", runningApp.pod);
      const beforeMs = Date.now();
      const report = await deleteForReport(namespace, runningApp, "--grace-period=20");
      // The deletion's grace period is 20 s. 10 s of it are reserved for the app and 2 s are a margin, so the deadline is after 8 s.
      expect(report).toMatchObject({ outcome: "timeout", relay: "offered" });
      const signalDelayMs = (await loggedAtMs(runningApp.appLog, "SIGTERM")) - beforeMs;
      expect(signalDelayMs).toBeGreaterThanOrEqual(7_000);
      expect(signalDelayMs).toBeLessThan(10_000 + 5_000);
    });
  });
});

async function waitForNoWebhook(namespace: CaseNamespace): Promise<void> {
  const getPods = ["--namespace", RELEASE_NAMESPACE, "get", "pods"];
  await waitUntil({ condition: "no webhook runs", withinMs: 90_000, everyMs: 500 }, async () =>
    (await namespace.clusterKubectl.json<KubernetesListObject<V1Pod>>(getPods)).items.length === 0 ? true : undefined,
  );
}

async function restoreWebhook(namespace: CaseNamespace): Promise<void> {
  await namespace.clusterKubectl.run(["scale", ...WEBHOOK_DEPLOYMENT_ARGS, "--replicas=2"]);
  await namespace.clusterKubectl.run(["rollout", "status", ...WEBHOOK_DEPLOYMENT_ARGS, "--timeout=120s"]);
  await waitForInjection(suite);
}
