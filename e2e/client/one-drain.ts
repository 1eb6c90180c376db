/** Creates a Pod, waits for its manager, and deletes the Pod. */
import type { V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { managerOf } from "./injected-pods.ts";
import { drainReport, followLog, MANAGER } from "./pod-log.ts";
import { create } from "./server-answer.ts";

export type OneDrain = {
  /** The running Pod. */
  readonly pod: V1Pod;
  /** The warnings of its creation. */
  readonly warnings: readonly string[];
  readonly report: DrainReport;
  /** The time just before the deletion, by the host's clock. */
  readonly deletedAtMs: number;
};

/** Matches the trigger of a deleted Pod's drain: the manager's own hook or the relay's status, whichever is first. */
export const THE_END = expect.stringMatching(/^(hook|relay)$/);

/** @param whileItRuns checks of the case before the Pod is deleted */
export async function drainOne(
  namespace: CaseNamespace,
  asked: V1Pod,
  whileItRuns: (pod: V1Pod) => Promise<void> = async () => {},
): Promise<OneDrain> {
  const name = asked.metadata?.name ?? "";
  const { warnings } = await create(namespace.here, asked);
  await namespace.here.run(["wait", "--for=condition=Ready", `pod/${name}`, "--timeout=90s"]);
  const pod = await namespace.here.json<V1Pod>(["get", "pod", name]);
  managerOf(pod);
  const manager = followLog(namespace, name, MANAGER);
  await manager.waitFor("listening");
  await whileItRuns(pod);
  const deletedAtMs = Date.now();
  await namespace.here.run(["delete", "pod", name, "--wait=false"]);
  const report = await drainReport(manager);
  await namespace.here.run(["wait", "--for=delete", `pod/${name}`, "--timeout=90s"]);
  return { pod, warnings, report, deletedAtMs };
}
