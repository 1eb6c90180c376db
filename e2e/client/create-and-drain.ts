/** Creates a Pod, waits for its manager, and deletes the Pod. */
import type { V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { createPod } from "./create-pods.ts";
import { managerOf } from "./injected-pods.ts";
import { drainReport, followLog, MANAGER } from "./pod-log.ts";

export type DrainedPod = {
  /** The running Pod. */
  readonly pod: V1Pod;
  /** The API server's warnings in response to the creation of the Pod. */
  readonly warnings: readonly string[];
  readonly report: DrainReport;
  /** The time just before the deletion, by the host's clock. */
  readonly deletedAtMs: number;
};

/** Matches the trigger of a deleted Pod's drain: the manager's own hook or the relay's status, whichever is first. */
export const DELETION_TRIGGER = expect.stringMatching(/^(hook|relay)$/);

/** @param checkRunningPod checks of the case before the Pod is deleted */
export async function createAndDrain(
  namespace: CaseNamespace,
  manifest: V1Pod,
  checkRunningPod: (pod: V1Pod) => Promise<void> = async () => {},
): Promise<DrainedPod> {
  const name = manifest.metadata?.name ?? "";
  const { warnings } = await createPod(namespace.kubectl, manifest);
  await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${name}`, "--timeout=90s"]);
  const pod = await namespace.kubectl.json<V1Pod>(["get", "pod", name]);
  managerOf(pod);
  const manager = followLog(namespace, name, MANAGER);
  await manager.waitFor("listening");
  await checkRunningPod(pod);
  const deletedAtMs = Date.now();
  await namespace.kubectl.run(["delete", "pod", name, "--wait=false"]);
  const report = await drainReport(manager);
  await namespace.kubectl.run(["wait", "--for=delete", `pod/${name}`, "--timeout=90s"]);
  return { pod, warnings, report, deletedAtMs };
}
