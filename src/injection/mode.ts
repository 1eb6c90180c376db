/** Which of the modes a Pod gets in this cluster. */
import { isAtLeast, parseVersion } from "../kubernetes/version.ts";
import type { ModeChoice } from "../policy/pod-policy.ts";
import type { Problem } from "../policy/problem.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import type { Mode } from "./outcome.ts";

export type ChosenMode = { readonly mode: Mode; readonly problems: readonly Problem[] };

/**
 * `auto` and `sidecar` follow the cluster; a manager that stands already stays what it is, so that two replicas that
 * see the nodes differently do not undo each other's work.
 */
export function chooseMode(
  choice: ModeChoice,
  facts: ClusterFacts,
  standing: "native" | "classic" | undefined,
  where: string,
): ChosenMode {
  const usual = standing !== undefined && isPossible(standing, facts) ? standing : sidecarMode(facts);
  const refusal = refusalOf(choice, facts);
  if (refusal !== undefined) {
    return { mode: usual, problems: [{ code: "unsupported_mode", where, message: `${refusal}; used is ${usual}.` }] };
  }
  const mode = choice === "native" || choice === "classic" || choice === "sleep" ? choice : usual;
  return { mode, problems: [] };
}

/**
 * An API server of 1.32 allows no kubelet older than 1.29, the first that orders sidecars at termination. Between
 * 1.29 and 1.31 the nodes decide, and nodes not seen lately do not count.
 */
function sidecarMode(facts: ClusterFacts): "native" | "classic" {
  const server = parseVersion(facts.apiServerVersion);
  if (server === undefined || !isAtLeast(server, 1, 29)) return "classic";
  if (isAtLeast(server, 1, 32)) return "native";
  const kubelet = parseVersion(facts.lowestKubeletVersion ?? "");
  return kubelet !== undefined && isAtLeast(kubelet, 1, 29) ? "native" : "classic";
}

function isPossible(mode: "native" | "classic", facts: ClusterFacts): boolean {
  const server = parseVersion(facts.apiServerVersion);
  return mode === "classic" || (server !== undefined && isAtLeast(server, 1, 29));
}

function refusalOf(choice: ModeChoice, facts: ClusterFacts): string | undefined {
  switch (choice) {
    case "hook":
      return "Mode hook does not exist in this version";
    case "native": {
      const server = parseVersion(facts.apiServerVersion);
      const isTooOld = server !== undefined && !isAtLeast(server, 1, 29);
      return isTooOld ? "Mode native needs Kubernetes 1.29 or later" : undefined;
    }
    case "sleep": {
      const server = parseVersion(facts.apiServerVersion);
      const kubelet = parseVersion(facts.lowestKubeletVersion ?? "");
      const serverKnowsIt = server !== undefined && isAtLeast(server, 1, 30);
      const nodesKnowIt = kubelet === undefined || isAtLeast(kubelet, 1, 30);
      return serverKnowsIt && nodesKnowIt ? undefined : "Mode sleep needs Kubernetes 1.30 or later";
    }
    default:
      return undefined;
  }
}
