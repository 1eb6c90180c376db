import type { LimitRange } from "../kubernetes/limit-range.ts";
import type { Problem } from "../policy/problem.ts";

/** What the injector must know about the cluster; pure data, gathered by the caller. */
export type ClusterFacts = {
  /** The API server's version, e.g. `1.32`; text such as `v1.31.4-eks-abc` is accepted. */
  readonly apiServerVersion: string;
  /** Lowest kubelet version of all Linux nodes; `undefined` when the list is empty or stale (then it is not believed). */
  readonly lowestKubeletVersion: string | undefined;
  readonly managerImage: string;
  /** Namespaces that are never touched, lastcall's own among them. */
  readonly systemNamespaces: readonly string[];
  /** Those of the Pod's namespace; absent when there are none or none are known. */
  readonly limitRanges?: readonly LimitRange[];
  /** What could not be learnt about the cluster and the person should hear of. */
  readonly problems?: readonly Problem[];
};
