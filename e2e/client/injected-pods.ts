/** Checks that Pods have a manager, so that a case cannot pass without one. */
import type { V1Container, V1Pod } from "@kubernetes/client-node";
import type { CaseNamespace } from "./case-namespace.ts";
import { MANAGER } from "./pod-log.ts";

/** @throws with the name of a Pod without a manager, or if there is no Pod. */
export async function expectInjectedPods(namespace: CaseNamespace, selector = ""): Promise<readonly V1Pod[]> {
  const pods = await namespace.pods(selector);
  if (pods.length === 0) throw new Error(`Namespace ${namespace.name} has no Pod with the label ${selector}.`);
  for (const pod of pods) managerOf(pod);
  return pods;
}

/** @throws if the Pod has no manager. */
export function managerOf(pod: V1Pod): V1Container {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const manager = containers.find(({ name }) => name === MANAGER);
  if (manager === undefined) throw new Error(`Pod ${pod.metadata?.name} has no manager.`);
  return manager;
}

export function nameOf(pod: V1Pod): string {
  return pod.metadata?.name ?? "";
}
