/**
 * Tests drains of Pods whose clients never close their connections: how the drains end, what `lastcall verify` reports about
 * them, and a drain that hangs.
 */
import type { CoreV1Event, KubernetesListObject } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { runLastcall } from "../client/command-line.ts";
import { runDocumentedJob, runDocumentedStep } from "../client/documented-verify.ts";
import { expectInjectedPods, nameOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { clusterIp } from "../client/load.ts";
import { followLog } from "../client/pod-log.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { deleteForReport, startBehindService } from "../client/running-app.ts";
import { APP, appWithShutdown, barePod, nodeContainer, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
const REPLICAS = 3;
const SCALE = { replicas: REPLICAS, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: REPLICAS } } };
/** With this number of clients, each Pod has clients on each node. */
const ENDLESS_CLIENTS = { endless: 12, slow: 0 };
const PATIENCE_REASON = "none of them closed for 10s";
const CLEAN_STOPS_REASON = "no connection was reset when the last Pods of this workload stopped";
/** After so many rollouts, each of the two relay replicas has the reports of three stops. Each report goes to a random replica. */
const MAX_ROLLOUTS = 8;

const namespaceFlags = (namespace: CaseNamespace) => ["-n", namespace.name, "--lastcall-namespace", RELEASE_NAMESPACE];

async function readRecords(namespace: CaseNamespace, uids: ReadonlySet<string>): Promise<readonly DrainRecord[]> {
  const { output } = await runLastcall(suite, ["drains", ...namespaceFlags(namespace), "--json"]);
  const { drains }: { readonly drains: readonly DrainRecord[] } = JSON.parse(output);
  return drains.filter(({ uid }) => uids.has(uid));
}

/** @returns the drains of the replaced Pods, after their stops were reported */
async function restartAndReadRecords(namespace: CaseNamespace): Promise<readonly DrainRecord[]> {
  const pods = await expectInjectedPods(namespace, `app=${APP}`);
  const uids = new Set(pods.map(({ metadata }) => metadata?.uid ?? ""));
  await restartRollout(namespace);
  await namespace.waitForTerminations(`app=${APP}`);
  return waitUntil(
    { condition: "the stops of all replaced Pods are reported", withinMs: 30_000, everyMs: 500 },
    async () => {
      const records = await readRecords(namespace, uids);
      return records.filter(({ report }) => report.resets !== undefined).length === uids.size ? records : undefined;
    },
  );
}

function haveSkippedPatience(records: readonly DrainRecord[] = []): boolean {
  return records.every(({ report }) => report.why.includes(CLEAN_STOPS_REASON));
}

describe("a rollout with clients that never close their connections", () => {
  test("hands drains over after the patience, later drains without the patience because earlier stops did not reset a connection, and `lastcall verify` exits with 0", async () => {
    await inNamespace(suite, "hand-over", NAMESPACE_OPTIONS, async (namespace) => {
      await namespace.apply(sampleApp(namespace, appWithShutdown("graceful", SCALE)));
      await namespace.waitForRollout(`deployment/${APP}`);
      const recordsByRollout: (readonly DrainRecord[])[] = [];
      const { requests, failed } = await underLoad(
        namespace,
        async () => {
          do recordsByRollout.push(await restartAndReadRecords(namespace));
          while (recordsByRollout.length < MAX_ROLLOUTS && !haveSkippedPatience(recordsByRollout.at(-1)));
        },
        ENDLESS_CLIENTS,
      );
      namespace.saveArtifact("rollouts.json", JSON.stringify(recordsByRollout, null, 2));
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
      const reports = recordsByRollout.flat().map(({ report }) => report);
      expect(new Set(reports.map(({ outcome }) => outcome))).toEqual(new Set(["handed-over"]));
      expect(reports.map(({ resets }) => resets?.stopping)).toEqual(reports.map(() => 0));
      for (const { report } of recordsByRollout[0] ?? []) expect(report.why).toContain(PATIENCE_REASON);
      expect(recordsByRollout.at(-1)?.map(({ report }) => report.why)).toEqual(
        Array.from({ length: REPLICAS }, () => expect.stringContaining(CLEAN_STOPS_REASON)),
      );
      const step = await runDocumentedStep(namespace);
      namespace.saveArtifact("verify.txt", step.output + step.stderr);
      expect(step.output).toContain("Pods terminated and did not cut a connection");
      expect(step.status).toBe(0);
      const { succeeded, log } = await runDocumentedJob(namespace);
      expect(log).toContain("Pods terminated and did not cut a connection");
      expect(succeeded).toBe(true);
    });
  });

  test("causes an Event if the app resets the connections when it stops, and `lastcall verify` exits with 1", async () => {
    await inNamespace(suite, "hand-over-reset", NAMESPACE_OPTIONS, async (namespace) => {
      const annotations = { "lastcall.dev/patience": "2s" };
      await namespace.apply(sampleApp(namespace, appWithShutdown("reset", { ...SCALE, annotations })));
      await namespace.waitForRollout(`deployment/${APP}`);
      let records: readonly DrainRecord[] = [];
      const { failed } = await underLoad(
        namespace,
        async () => {
          records = await restartAndReadRecords(namespace);
        },
        ENDLESS_CLIENTS,
      );
      const resets = records.map(({ report }) => report.resets?.stopping ?? 0);
      expect(Math.min(...resets)).toBeGreaterThan(0);
      expect(resets.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(failed);
      expect(failed).toBeGreaterThan(0);
      const step = await runDocumentedStep(namespace);
      namespace.saveArtifact("verify.txt", step.output + step.stderr);
      expect(step.output).toContain(`${REPLICAS} of them may have cut connections`);
      expect(step.status).toBe(1);
      const { succeeded, log } = await runDocumentedJob(namespace);
      expect(log).toContain(`${REPLICAS} of them may have cut connections`);
      expect(succeeded).toBe(false);
      const { items } = await namespace.kubectl.json<KubernetesListObject<CoreV1Event>>(["get", "events"]);
      const reasons = items
        .filter(({ involvedObject }) => involvedObject.kind === "ReplicaSet")
        .map((event) => event.reason);
      expect(reasons).toContain("ConnectionsReset");
    });
  });
});

test("a drain that hangs because of a client is listed with this client, and has an Event on its Pod, until it ends", async () => {
  await inNamespace(suite, "hanging", NAMESPACE_OPTIONS, async (namespace) => {
    const runningApp = await startBehindService(namespace, { annotations: { "lastcall.dev/drain-timeout": "180s" } });
    const podName = nameOf(runningApp.pod);
    const url = `http://${await clusterIp(namespace, APP)}/slow?ms=170000`;
    const script = `require("node:http").get("${url}").on("socket", (socket) => socket.on("connect", () => console.log("connected"))).on("error", () => {})`;
    const clientPod = barePod(namespace, "client", [nodeContainer(namespace, "client", ["-e", script])], {
      labels: { "lastcall.dev/inject": "disabled" },
    });
    await namespace.apply([clientPod]);
    await namespace.kubectl.run(["wait", "--for=condition=Ready", "pod/client", "--timeout=60s"]);
    await followLog(namespace, "client", "client").waitFor("connected");
    const address = await namespace.kubectl.run(["get", "pod", "client", "--output=jsonpath={.status.podIP}"]);
    const pendingReport = deleteForReport(namespace, runningApp);
    const table = await waitUntil(
      { condition: "the running drain is listed", withinMs: 60_000, everyMs: 500 },
      async () => {
        const { output } = await runLastcall(suite, ["drains", ...namespaceFlags(namespace)]);
        return output.includes("draining") ? output : undefined;
      },
    );
    namespace.saveArtifact("drains.txt", table);
    const [record] = await readRecords(namespace, new Set([runningApp.pod.metadata?.uid ?? ""]));
    expect(record?.report).toMatchObject({ phase: "draining", outcome: "none", leftTotal: 1 });
    expect(record?.report.why).toContain(address);
    expect(record?.report.remainingMs).toBeGreaterThan(0);
    const events = await waitUntil({ condition: "the Pod has an Event", withinMs: 30_000, everyMs: 500 }, async () => {
      const selector = `--field-selector=involvedObject.kind=Pod,involvedObject.name=${podName},reason=Draining`;
      const { items } = await namespace.kubectl.json<KubernetesListObject<CoreV1Event>>(["get", "events", selector]);
      return items.length > 0 ? items : undefined;
    });
    expect(events.map(({ message }) => message)).toEqual([expect.stringContaining(address)]);
    await namespace.kubectl.run(["delete", "pod", "client", "--grace-period=1"]);
    expect(await pendingReport).toMatchObject({ outcome: "drained" });
    await waitUntil({ condition: "the end of the drain is listed", withinMs: 30_000, everyMs: 500 }, async () => {
      const [last] = await readRecords(namespace, new Set([runningApp.pod.metadata?.uid ?? ""]));
      return last?.report.outcome === "drained" ? true : undefined;
    });
  });
});
