/** Tests a rollout while Pods of another namespace, without permissions and secrets, attack every manager and the webhook. */
import type { CoreV1EventList, KubernetesListObject, V1Pod } from "@kubernetes/client-node";
import { afterAll, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/contract/drain-settings.ts";
import { type Attackers, connectionsOf, startAttackers } from "../client/attackers.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { expectInjectedPods, nameOf } from "../client/injected-pods.ts";
import { install, OPT_IN } from "../client/installation.ts";
import { followLog, MANAGER, type PodLog } from "../client/pod-log.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { createSteadily } from "../client/steady-creations.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";
import { listWebhookPods } from "../client/webhook-metrics.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const RESTRICTED_LABELS = { "pod-security.kubernetes.io/enforce": "restricted" };
/** Long enough for a rollout in which hooks and webhook fail, so that every Pod takes its complete grace period. */
const TIMEOUT_MS = 600_000;
/** The time after which the attackers exit. */
const ATTACK_SECONDS = 120;
/** The requests equal the limits (QoS class Guaranteed), so each manager also gets a CPU limit: its minimum of 10m. */
const APP_RESOURCES = { cpu: "300m", memory: "128Mi" };
const APP_OPTIONS = { container: { resources: { requests: APP_RESOURCES, limits: APP_RESOURCES } } };
/** Number of attackers' connections that is required before the rollout starts, so that the whole rollout runs under attack. */
const MIN_MANAGER_CONNECTIONS = 3_000;
const MIN_WEBHOOK_CONNECTIONS = 200;

afterAll(() => install(suite));

test("no request and no admission fails in a rollout while Pods of another namespace attack managers and webhook", {
  timeout: TIMEOUT_MS,
}, async () => {
  await install(suite, { failurePolicy: "Fail" });
  await inNamespace(suite, "attacked", { labels: OPT_IN }, (namespace) =>
    inNamespace(suite, "attackers", { labels: RESTRICTED_LABELS }, async (attackerNamespace) => {
      await namespace.apply(sampleApp(namespace, APP_OPTIONS));
      await namespace.waitForRollout(`deployment/${APP}`);
      const pods = await expectInjectedPods(namespace, `app=${APP}`);
      const managerLogs = pods.map((pod) => followLog(namespace, nameOf(pod), MANAGER));
      const replicaNames = (await listWebhookPods(namespace.clusterKubectl)).map(nameOf);
      const { creations, ...results } = await rollUnderAttack(namespace, attackerNamespace);
      const { failures, ...admissions } = creations;
      const drainDescriptions = managerLogs.map(describeReport);
      const counts = {
        ...results,
        admissions,
        ends: drainDescriptions,
        webhook: await readRestarts(namespace, replicaNames),
      };
      namespace.saveArtifact("attacked.json", JSON.stringify({ ...counts, failures }, null, 2));
      process.stdout.write(`${JSON.stringify({ ...counts, firstFailure: failures[0] }, null, 1)}\n`);
      expect(counts.requests).toBeGreaterThan(MIN_REQUESTS);
      expect(counts.admissions.requested).toBeGreaterThan(MIN_REQUESTS);
      expect(counts).toMatchObject({
        rollout: "complete",
        failedRequests: 0,
        failedHooks: [],
        admissions: { failed: 0, missed: 0 },
        ends: managerLogs.map(() => expect.stringMatching(/^drained after (hook|relay)$/)),
        webhook: { restarts: 0, killed: [] },
      });
    }),
  );
});

async function rollUnderAttack(namespace: CaseNamespace, attackerNamespace: CaseNamespace) {
  const { port } = DEFAULT_SETTINGS;
  const [managerAttackers, webhookAttackers] = await Promise.all([
    startAttackers(attackerNamespace, {
      name: "on-managers",
      target: "manager",
      port,
      attackersPerNode: 2,
      seconds: ATTACK_SECONDS,
    }),
    startAttackers(attackerNamespace, {
      name: "on-webhook",
      target: "webhook",
      port: 443,
      attackersPerNode: 1,
      seconds: ATTACK_SECONDS,
    }),
  ]);
  const pod = barePod(namespace, "probe", [appContainer(namespace)]);
  const creations = await createSteadily(suite, { perSecond: 5, pod, namespace: namespace.name });
  let rolloutResult = "complete";
  const attackAndRoll = async () => {
    const targetUpdates = startTargetUpdates(namespace, managerAttackers);
    await webhookAttackers.setTargets([await readWebhookAddress(namespace)]);
    try {
      await waitForConnections(managerAttackers, MIN_MANAGER_CONNECTIONS);
      await waitForConnections(webhookAttackers, MIN_WEBHOOK_CONNECTIONS);
      namespace.addTimelineLine("the attackers are connected, the rollout starts");
      await restartRollout(namespace);
      await namespace.waitForTerminations(`app=${APP}`);
    } catch (error) {
      // The other results are reported even if the rollout fails.
      rolloutResult = error instanceof Error ? error.message : String(error);
    } finally {
      await targetUpdates.stop();
    }
  };
  // The creations are stopped even if the load fails; the second call of `stop` below returns their counts.
  const { requests, failed } = await underLoad(namespace, attackAndRoll).finally(() => creations.stop());
  return {
    ...{ rollout: rolloutResult, requests, failedRequests: failed },
    failedHooks: await listFailedHooks(namespace),
    creations: await creations.stop(),
    attack: { onManagers: await managerAttackers.readCounts(), onWebhook: await webhookAttackers.readCounts() },
  };
}

/** Sets the addresses of all Pods of the app as targets every half second, so that new Pods are attacked too. */
function startTargetUpdates(namespace: CaseNamespace, attackers: Attackers): { readonly stop: () => Promise<void> } {
  let isStopped = false;
  let lastAddresses = "";
  const updateOnce = async () => {
    const addresses = (await namespace.pods(`app=${APP}`)).flatMap(({ status }) => status?.podIP ?? []);
    if (addresses.join() !== lastAddresses) await attackers.setTargets(addresses);
    lastAddresses = addresses.join();
  };
  const updates = (async () => {
    while (!isStopped) {
      // An attacker that has exited does not accept new targets.
      await updateOnce().catch((error: Error) =>
        namespace.addTimelineLine(`could not set the targets: ${error.message}`),
      );
      await pauseMs(500);
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await updates;
    },
  };
}

async function waitForConnections(attackers: Attackers, minConnections: number): Promise<void> {
  await waitUntil(
    { condition: `the attackers made ${minConnections} connections`, withinMs: 60_000, everyMs: 500 },
    async () => (connectionsOf(await attackers.readCounts()) >= minConnections ? true : undefined),
  );
}

function readWebhookAddress(namespace: CaseNamespace): Promise<string> {
  const getService = ["--namespace", RELEASE_NAMESPACE, "get", "service", "lastcall-webhook"];
  return namespace.clusterKubectl.run([...getService, "--output=jsonpath={.spec.clusterIP}"]);
}

/** Lists the messages of the kubelets' Events for failed hooks. */
async function listFailedHooks(namespace: CaseNamespace): Promise<readonly string[]> {
  const getFailedHooks = ["get", "events", "--field-selector=reason=FailedPreStopHook"];
  return (await namespace.kubectl.json<CoreV1EventList>(getFailedHooks)).items.map(({ message }) => message ?? "");
}

/** Returns the outcome and the trigger of the manager's report. */
function describeReport(manager: PodLog): string {
  const line = manager.lines().find((one) => one.includes('"drain report"'));
  if (line === undefined) return "no report";
  const { report }: { readonly report: { readonly outcome: string; readonly trigger: string } } = JSON.parse(line);
  return `${report.outcome} after ${report.trigger}`;
}

/** Counts the restarts of the replicas, and lists their reasons. */
async function readRestarts(namespace: CaseNamespace, replicas: readonly string[]) {
  const getPods = ["--namespace", RELEASE_NAMESPACE, "get", "pods"];
  const { items } = await namespace.clusterKubectl.json<KubernetesListObject<V1Pod>>(getPods);
  const containers = items
    .filter((pod) => replicas.includes(nameOf(pod)))
    .flatMap(({ status }) => status?.containerStatuses ?? []);
  return {
    restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
    killed: containers.flatMap(({ lastState }) => lastState?.terminated?.reason ?? []),
  };
}
