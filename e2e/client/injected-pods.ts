/** Pods that are known to carry the manager: a case about it must not pass without it. */
import type { V1Container, V1Pod } from "@kubernetes/client-node";
import type { CaseNamespace } from "./case-namespace.ts";
import { MANAGER } from "./pod-log.ts";

/** @throws naming the Pod that has none, or when there is no Pod at all. */
export async function injectedPods(namespace: CaseNamespace, selector = ""): Promise<readonly V1Pod[]> {
  const pods = await namespace.pods(selector);
  if (pods.length === 0) throw new Error(`There is no Pod with ${selector} in ${namespace.name}.`);
  for (const pod of pods) managerOf(pod);
  return pods;
}

/** @throws when the Pod has no manager. */
export function managerOf(pod: V1Pod): V1Container {
  const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const manager = all.find(({ name }) => name === MANAGER);
  if (manager === undefined) throw new Error(`Pod ${pod.metadata?.name} was not injected.`);
  return manager;
}

export function nameOf(pod: V1Pod): string {
  return pod.metadata?.name ?? "";
}
