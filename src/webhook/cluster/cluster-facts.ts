/** Derives the facts about the cluster that injection reads: from nodes and other cached objects. Pure. */
import type { ClusterFacts } from "../../injection/inject.ts";
import type { LimitRange } from "../../kubernetes/limit-range.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../../kubernetes/version.ts";
import type { Problem } from "../../policy/problem.ts";

type NodeFacts = {
  readonly os: string;
  readonly kubeletVersion: string;
  readonly runtime: string;
};

export function reduceNode(node: RawObject): NodeFacts {
  const info = objectAt(objectAt(node, "status"), "nodeInfo");
  return {
    os: textAt(info, "operatingSystem") ?? "",
    kubeletVersion: textAt(info, "kubeletVersion") ?? "",
    runtime: textAt(info, "containerRuntimeVersion") ?? "",
  };
}

/**
 * Lowest kubelet version of all Linux nodes. A node without a reported OS counts as Linux.
 *
 * @returns `undefined` without a Linux node, or when a version cannot be parsed
 */
export function lowestKubeletVersion(nodes: Iterable<NodeFacts>): string | undefined {
  let lowest: string | undefined;
  for (const { os, kubeletVersion } of nodes) {
    if (!mayRunLinux(os)) continue;
    const version = parseVersion(kubeletVersion);
    if (version === undefined) return undefined;
    const lowestVersion = lowest === undefined ? undefined : parseVersion(lowest);
    if (lowestVersion === undefined || !isAtLeast(version, lowestVersion.major, lowestVersion.minor))
      lowest = kubeletVersion;
  }
  return lowest;
}

function mayRunLinux(os: string): boolean {
  return os === "" || os === "linux";
}

/** Minimum versions of runtimes that mount image volumes from which programs can load code. */
const IMAGE_VOLUME_RUNTIMES: readonly { readonly runtime: string; readonly major: number; readonly minor: number }[] = [
  { runtime: "containerd://", major: 2, minor: 1 },
  { runtime: "cri-o://", major: 1, minor: 33 },
];

/** @returns the runtime of a Linux node that does not support image volumes; `undefined` if all Linux nodes support them */
export function findRuntimeWithoutImageVolumes(nodes: Iterable<NodeFacts>): string | undefined {
  for (const { os, runtime } of nodes)
    if (mayRunLinux(os) && !supportsImageVolumes(runtime)) return runtime || "none named";
  return undefined;
}

function supportsImageVolumes(text: string): boolean {
  return IMAGE_VOLUME_RUNTIMES.some(({ runtime, major, minor }) => {
    const version = text.startsWith(runtime) ? parseVersion(text.slice(runtime.length)) : undefined;
    return version !== undefined && isAtLeast(version, major, minor);
  });
}

export type CachedFacts = {
  readonly apiServerVersion: string | undefined;
  readonly lowestKubeletVersion: string | undefined;
  readonly runtimeWithoutImageVolumes: string | undefined;
  readonly nodesAreStale: boolean;
  /** Used even when stale: a manager that fits outdated LimitRanges is more likely to be admitted than one that fits none. */
  readonly limitRanges: readonly LimitRange[] | undefined;
  readonly namespaceIsUnknown: boolean;
  readonly imagePullError: string | undefined;
};

/** Missing facts get values that disable newer features. */
export function factsOf(constantFacts: ClusterFacts, namespace: string, cachedFacts: CachedFacts): ClusterFacts {
  return {
    ...constantFacts,
    apiServerVersion: cachedFacts.apiServerVersion ?? constantFacts.apiServerVersion,
    lowestKubeletVersion: cachedFacts.nodesAreStale ? undefined : cachedFacts.lowestKubeletVersion,
    runtimeWithoutImageVolumes: cachedFacts.runtimeWithoutImageVolumes,
    limitRanges: cachedFacts.limitRanges ?? [],
    imagePullError: cachedFacts.imagePullError,
    problems: cachedFacts.namespaceIsUnknown ? [unknownNamespace(namespace)] : [],
  };
}

function unknownNamespace(namespace: string): Problem {
  const message =
    "The API server did not report the namespace's annotations in time; the defaults of the cluster configuration are used.";
  return { code: "namespace_unknown", where: `namespace ${namespace}`, message };
}
