/** Caches to the facts injection asks for; what is not sure gets the careful answer. Pure, time as an argument. */
import type { ClusterFacts } from "../../injection/inject.ts";
import type { LimitRange } from "../../kubernetes/limit-range.ts";
import type { Problem } from "../../policy/problem.ts";

export type Known = {
  /** `undefined` until the API server told. */
  readonly apiServerVersion: string | undefined;
  readonly lowestKubeletVersion: string | undefined;
  readonly oldRuntime: string | undefined;
  /** The nodes were not heard of for too long: what they were counts for nothing. */
  readonly nodesAreStale: boolean;
  /**
   * Also when stale: a manager that fits yesterday's limits is likelier to be admitted than one that fits none.
   */
  readonly limitRanges: readonly LimitRange[] | undefined;
  readonly namespaceIsUnknown: boolean;
  /** What a node said of the manager's image that it could not pull for this namespace. */
  readonly imageTrouble: string | undefined;
};

/** `base` holds what does not change while the process runs. */
export function factsOf(base: ClusterFacts, namespace: string, known: Known): ClusterFacts {
  return {
    ...base,
    apiServerVersion: known.apiServerVersion ?? base.apiServerVersion,
    lowestKubeletVersion: known.nodesAreStale ? undefined : known.lowestKubeletVersion,
    oldRuntime: known.oldRuntime,
    limitRanges: known.limitRanges ?? [],
    imageTrouble: known.imageTrouble,
    problems: known.namespaceIsUnknown ? [unknownNamespace(namespace)] : [],
  };
}

function unknownNamespace(namespace: string): Problem {
  const message = "Its annotations could not be read in time; the cluster's defaults are used.";
  return { code: "namespace_unknown", where: `namespace ${namespace}`, message };
}
