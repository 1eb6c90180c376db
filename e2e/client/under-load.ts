/** Runs mixed load from both nodes during a change of the application. */
import type { CaseNamespace } from "./case-namespace.ts";
import { clusterIp, type LoadOptions, startLoadOn, sumOf } from "./load.ts";
import { APP } from "./sample-app.ts";

export type LoadSum = { readonly requests: number; readonly failed: number };

/** Runs the change under load. The load stops when the change is complete and every replaced Pod is deleted. */
export async function underLoad(
  namespace: CaseNamespace,
  change: () => Promise<unknown>,
  flags: NonNullable<LoadOptions["flags"]> = {},
): Promise<LoadSum> {
  const target = { host: await clusterIp(namespace, APP), port: 80, flags };
  const loads = await Promise.all(namespace.suite.nodes.map((node) => startLoadOn(namespace, node, target)));
  await change();
  await namespace.waitForTerminations(`app=${APP}`);
  return sumOf(await Promise.all(loads.map((load) => load.stop())));
}

export async function restartRollout(namespace: CaseNamespace, workload = `deployment/${APP}`): Promise<void> {
  await namespace.kubectl.run(["rollout", "restart", workload]);
  await namespace.waitForRollout(workload);
}

/** With fewer requests a result without failures would be meaningless. */
export const MIN_REQUESTS = 100;
