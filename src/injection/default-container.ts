/** Which container `kubectl logs` and `kubectl exec` mean when no container is named. */
import { MANAGER_CONTAINER } from "../contract/manager-environment.ts";

export const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

const PROXIES: readonly string[] = ["istio-proxy", "linkerd-proxy"];

/** The first regular container that belongs to the app, by the names in order. */
export function defaultContainerOf(names: readonly string[]): string {
  const own = names.filter((name) => name !== MANAGER_CONTAINER);
  return own.find((name) => !PROXIES.includes(name)) ?? own[0] ?? "";
}
