/** What injection asks about the nodes: the oldest kubelet of them. Pure. */
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../../kubernetes/version.ts";

export type NodeFacts = {
  /** Empty when the node has not told yet. */
  readonly os: string;
  readonly kubeletVersion: string;
};

export function keepNode(node: RawObject): NodeFacts {
  const info = objectAt(objectAt(node, "status"), "nodeInfo");
  return { os: textAt(info, "operatingSystem") ?? "", kubeletVersion: textAt(info, "kubeletVersion") ?? "" };
}

/**
 * The lowest version of all Linux nodes. A node that has not told its system counts as Linux.
 *
 * @returns `undefined` when there is no such node, or one with an unreadable version: then nothing is promised
 */
export function lowestKubeletVersion(nodes: Iterable<NodeFacts>): string | undefined {
  let lowest: string | undefined;
  for (const { os, kubeletVersion } of nodes) {
    if (os !== "" && os !== "linux") continue;
    const version = parseVersion(kubeletVersion);
    if (version === undefined) return undefined;
    const known = lowest === undefined ? undefined : parseVersion(lowest);
    if (known === undefined || !isAtLeast(version, known.major, known.minor)) lowest = kubeletVersion;
  }
  return lowest;
}
