/** Runs a Deployment of one Pod behind a Service, follows its logs, and deletes its Pod. */
import type { V1Pod } from "@kubernetes/client-node";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { expectInjectedPods, nameOf } from "./injected-pods.ts";
import { drainReport, followLog, MANAGER, type PodLog } from "./pod-log.ts";
import { APP, type SampleOptions, sampleApp } from "./sample-app.ts";

export type RunningApp = { readonly pod: V1Pod; readonly appLog: PodLog; readonly managerLog: PodLog };

/** @throws if its Pod does not have a manager */
export async function startBehindService(namespace: CaseNamespace, options: SampleOptions): Promise<RunningApp> {
  await namespace.apply(sampleApp(namespace, { replicas: 1, ...options }));
  await namespace.waitForRollout(`deployment/${APP}`);
  return followApp(namespace);
}

/** Follows the logs of the Deployment's Pod that is not terminating. */
export async function followApp(namespace: CaseNamespace): Promise<RunningApp> {
  const pods = await expectInjectedPods(namespace, `app=${APP}`);
  const pod = pods.find(({ metadata }) => metadata?.deletionTimestamp === undefined);
  if (pod === undefined) throw new Error(`Deployment ${APP} in namespace ${namespace.name} has only terminating Pods.`);
  const appLog = followLog(namespace, nameOf(pod), "app");
  const managerLog = followLog(namespace, nameOf(pod), MANAGER);
  await Promise.all([appLog.waitFor("started"), managerLog.waitFor("listening")]);
  return { pod, appLog, managerLog };
}

/** @param flags flags of `kubectl delete` */
export async function deleteForReport(
  namespace: CaseNamespace,
  { pod, managerLog }: RunningApp,
  ...flags: readonly string[]
): Promise<DrainReport> {
  await namespace.kubectl.run(["delete", "pod", nameOf(pod), "--wait=false", ...flags]);
  const report = await drainReport(managerLog, 90);
  namespace.saveArtifact("report.json", JSON.stringify(report, null, 2));
  return report;
}
