/** Why a Pod got the mode it got, as the end of a sentence. */
import type { ClusterFacts } from "../injection/request.ts";
import { isAtLeast, parseVersion } from "../kubernetes/version.ts";
import type { Decision } from "./transform.ts";

/** Empty for a Pod that was not injected. */
export function modeReason({ outcome, explanation }: Decision, facts: ClusterFacts, origin: string): string {
  if (outcome.kind !== "patched") return "";
  const { mode } = outcome;
  if (mode === explanation.policy.mode) return `, as mode asks (${origin})`;
  const { apiServerVersion: server, lowestKubeletVersion: kubelet } = facts;
  if (mode === "native") return `, since API server ${server} runs native sidecars`;
  const version = parseVersion(server);
  if (version !== undefined && isAtLeast(version, 1, 32)) return ", as the manager already stands in this Pod";
  const nodes = kubelet === undefined ? "kubelets that were never seen" : `kubelets from ${kubelet} on`;
  return `, since API server ${server} with ${nodes} may not run native sidecars`;
}
