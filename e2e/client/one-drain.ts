/** One Pod from its creation over a ready manager to its end. */
import type { V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { managerOf } from "./injected-pods.ts";
import { drainReport, followLog, MANAGER } from "./pod-log.ts";
import { create } from "./server-answer.ts";

export type OneDrain = {
  /** As it ran. */
  readonly pod: V1Pod;
  /** Of its creation. */
  readonly warnings: readonly string[];
  readonly report: DrainReport;
  /** By this machine's clock, just before. */
  readonly deletedAtMs: number;
};

/** A report's trigger where a Pod ends: its own hook, or the relay's word, whichever is sooner. */
export const THE_END = expect.stringMatching(/^(hook|relay)$/);

/** @param whileItRuns what the case looks at before the Pod is deleted */
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
  await manager.heard("listening");
  await whileItRuns(pod);
  const deletedAtMs = Date.now();
  await namespace.here.run(["delete", "pod", name, "--wait=false"]);
  const report = await drainReport(manager);
  await namespace.here.run(["wait", "--for=delete", `pod/${name}`, "--timeout=90s"]);
  return { pod, warnings, report, deletedAtMs };
}
