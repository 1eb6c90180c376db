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
import { ENOUGH_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";
import { webhookPods } from "../client/webhook-metrics.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const RESTRICTED = { "pod-security.kubernetes.io/enforce": "restricted" };
/** If hooks and webhook failed, the rollout would take the Pods' complete grace periods. */
const ENOUGH_FOR_A_FAILURE_MS = 600_000;
/** The attackers' own time limit. */
const SECONDS = 120;
/** QoS Guaranteed, so that each manager has a CPU limit of 10m, its minimum. */
const SIZE = { cpu: "300m", memory: "128Mi" };
const SIZED = { container: { resources: { requests: SIZE, limits: SIZE } } };
/** Connections that are required before the rollout starts, so that it runs under attack. */
const ENOUGH_ON_MANAGERS = 3_000;
const ENOUGH_ON_WEBHOOK = 200;

afterAll(() => install(suite));

test("a rollout fails no request and no admission while Pods of another namespace attack managers and webhook", {
  timeout: ENOUGH_FOR_A_FAILURE_MS,
}, async () => {
  await install(suite, { failurePolicy: "Fail" });
  await inNamespace(suite, "attacked", { labels: OPT_IN }, (namespace) =>
    inNamespace(suite, "attackers", { labels: RESTRICTED }, async (others) => {
      await namespace.apply(sampleApp(namespace, SIZED));
      await namespace.waitForRollout(`deployment/${APP}`);
      const pods = await expectInjectedPods(namespace, `app=${APP}`);
      const managers = pods.map((pod) => followLog(namespace, nameOf(pod), MANAGER));
      const replicas = (await webhookPods(namespace.clusterKubectl)).map(nameOf);
      const { creations, ...seen } = await attackedRollout(namespace, others);
      const { failures, ...admissions } = creations;
      const ends = managers.map(reported);
      const counts = { ...seen, admissions, ends, webhook: await lifeOf(namespace, replicas) };
      namespace.saveArtifact("attacked.json", JSON.stringify({ ...counts, failures }, null, 2));
      process.stdout.write(`${JSON.stringify({ ...counts, firstFailure: failures[0] }, null, 1)}\n`);
      expect(counts.requests).toBeGreaterThan(ENOUGH_REQUESTS);
      expect(counts.admissions.asked).toBeGreaterThan(ENOUGH_REQUESTS);
      expect(counts).toMatchObject({
        rollout: "complete",
        failedRequests: 0,
        failedHooks: [],
        admissions: { failed: 0, missed: 0 },
        ends: managers.map(() => expect.stringMatching(/^drained after (hook|relay)$/)),
        webhook: { restarts: 0, killed: [] },
      });
    }),
  );
});

async function attackedRollout(namespace: CaseNamespace, others: CaseNamespace) {
  const { port } = DEFAULT_SETTINGS;
  const [onManagers, onWebhook] = await Promise.all([
    startAttackers(others, { name: "on-managers", on: "manager", port, perNode: 2, seconds: SECONDS }),
    startAttackers(others, { name: "on-webhook", on: "webhook", port: 443, perNode: 1, seconds: SECONDS }),
  ]);
  const asked = barePod(namespace, "asked", [appContainer(namespace)]);
  const creations = await createSteadily(suite, { perSecond: 5, pod: asked, namespace: namespace.name });
  let rollout = "complete";
  const attackAndRoll = async () => {
    const aiming = keepAiming(namespace, onManagers);
    await onWebhook.setTargets([await addressOfWebhook(namespace)]);
    try {
      await attacking(onManagers, ENOUGH_ON_MANAGERS);
      await attacking(onWebhook, ENOUGH_ON_WEBHOOK);
      namespace.addTimelineLine("the attackers are connected, the rollout starts");
      await restartRollout(namespace);
      await namespace.waitForTerminations(`app=${APP}`);
    } catch (error) {
      // The other results are reported even if this one fails.
      rollout = error instanceof Error ? error.message : String(error);
    } finally {
      await aiming.stop();
    }
  };
  // Stopped even if the load fails; its counts are read below.
  const { requests, failed } = await underLoad(namespace, attackAndRoll).finally(() => creations.stop());
  return {
    ...{ rollout, requests, failedRequests: failed },
    failedHooks: await failedHooks(namespace),
    creations: await creations.stop(),
    attack: { onManagers: await onManagers.counts(), onWebhook: await onWebhook.counts() },
  };
}

/** Sets the addresses of all Pods of the app as targets every half second, so that new Pods are attacked at once. */
function keepAiming(namespace: CaseNamespace, attackers: Attackers): { readonly stop: () => Promise<void> } {
  let isStopped = false;
  let last = "";
  const aimOnce = async () => {
    const addresses = (await namespace.pods(`app=${APP}`)).flatMap(({ status }) => status?.podIP ?? []);
    if (addresses.join() !== last) await attackers.setTargets(addresses);
    last = addresses.join();
  };
  const all = (async () => {
    while (!isStopped) {
      // An attacker that has exited does not accept new targets.
      await aimOnce().catch((error: Error) => namespace.addTimelineLine(`could not set the targets: ${error.message}`));
      await pauseMs(500);
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await all;
    },
  };
}

async function attacking(attackers: Attackers, enough: number): Promise<void> {
  await waitUntil({ what: `the attackers made ${enough} connections`, withinMs: 60_000, everyMs: 500 }, async () =>
    connectionsOf(await attackers.counts()) >= enough ? true : undefined,
  );
}

function addressOfWebhook(namespace: CaseNamespace): Promise<string> {
  const where = ["--namespace", RELEASE_NAMESPACE, "get", "service", "lastcall-webhook"];
  return namespace.clusterKubectl.run([...where, "--output=jsonpath={.spec.clusterIP}"]);
}

/** The kubelets' Events for unanswered hooks. */
async function failedHooks(namespace: CaseNamespace): Promise<readonly string[]> {
  const which = ["get", "events", "--field-selector=reason=FailedPreStopHook"];
  return (await namespace.kubectl.json<CoreV1EventList>(which)).items.map(({ message }) => message ?? "");
}

/** Returns the outcome and the trigger of the manager's report. */
function reported(manager: PodLog): string {
  const line = manager.lines().find((one) => one.includes('"drain report"'));
  if (line === undefined) return "no report";
  const { report }: { readonly report: { readonly outcome: string; readonly trigger: string } } = JSON.parse(line);
  return `${report.outcome} after ${report.trigger}`;
}

/** Counts the restarts of the replicas, and lists their reasons. */
async function lifeOf(namespace: CaseNamespace, replicas: readonly string[]) {
  const where = ["--namespace", RELEASE_NAMESPACE, "get", "pods"];
  const { items } = await namespace.clusterKubectl.json<KubernetesListObject<V1Pod>>(where);
  const containers = items
    .filter((pod) => replicas.includes(nameOf(pod)))
    .flatMap(({ status }) => status?.containerStatuses ?? []);
  return {
    restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
    killed: containers.flatMap(({ lastState }) => lastState?.terminated?.reason ?? []),
  };
}
