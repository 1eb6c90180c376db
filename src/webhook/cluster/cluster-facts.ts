/** The facts of the cluster that injection reads, from nodes and other cached objects. Pure, time as an argument. */
import type { ClusterFacts } from "../../injection/inject.ts";
import type { LimitRange } from "../../kubernetes/limit-range.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../../kubernetes/version.ts";
import type { Problem } from "../../policy/problem.ts";

type NodeFacts = {
  /** Empty when the node has not told yet. */
  readonly os: string;
  readonly kubeletVersion: string;
  /** Such as `containerd://2.1.4`. */
  readonly runtime: string;
};

export function keepNode(node: RawObject): NodeFacts {
  const info = objectAt(objectAt(node, "status"), "nodeInfo");
  return {
    os: textAt(info, "operatingSystem") ?? "",
    kubeletVersion: textAt(info, "kubeletVersion") ?? "",
    runtime: textAt(info, "containerRuntimeVersion") ?? "",
  };
}

/**
 * The lowest version of all Linux nodes. A node that has not told its system counts as Linux.
 *
 * @returns `undefined` when there is no such node, or one with an unreadable version: then nothing is promised
 */
export function lowestKubeletVersion(nodes: Iterable<NodeFacts>): string | undefined {
  let lowest: string | undefined;
  for (const { os, kubeletVersion } of nodes) {
    if (!mayBeLinux(os)) continue;
    const version = parseVersion(kubeletVersion);
    if (version === undefined) return undefined;
    const known = lowest === undefined ? undefined : parseVersion(lowest);
    if (known === undefined || !isAtLeast(version, known.major, known.minor)) lowest = kubeletVersion;
  }
  return lowest;
}

function mayBeLinux(os: string): boolean {
  return os === "" || os === "linux";
}

/** From these versions on a runtime mounts an image as a volume from which programs may load code. */
const IMAGE_VOLUMES: readonly { readonly runtime: string; readonly major: number; readonly minor: number }[] = [
  { runtime: "containerd://", major: 2, minor: 1 },
  { runtime: "cri-o://", major: 1, minor: 33 },
];

/** @returns the runtime of a Linux node that is older, or that is not known to do so; `undefined` when there is none */
export function oldRuntime(nodes: Iterable<NodeFacts>): string | undefined {
  for (const { os, runtime } of nodes) if (mayBeLinux(os) && !mountsImages(runtime)) return runtime || "none named";
  return undefined;
}

function mountsImages(text: string): boolean {
  return IMAGE_VOLUMES.some(({ runtime, major, minor }) => {
    const version = text.startsWith(runtime) ? parseVersion(text.slice(runtime.length)) : undefined;
    return version !== undefined && isAtLeast(version, major, minor);
  });
}

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

/** Where something is not known, the safe answer. `base` holds what does not change while the process runs. */
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
