/** `drains` and `timeline` in this process, against a cluster that is reached over TLS. */
import { connectCluster } from "../../../src/cli/cluster-connection.ts";
import type { DrainPorts } from "../../../src/cli/drain-ports.ts";
import { lastcall, NO_CLUSTER, type Ran } from "../run-lastcall.ts";
import type { FakeCluster } from "./fake-cluster.ts";

/** A minute after the drain that `someDrain` makes. */
export const NOW_MS = 1_795_000_060_000;

export function onCluster(cluster: FakeCluster, changes: Partial<DrainPorts> = {}): DrainPorts {
  return {
    ...NO_CLUSTER,
    connect: (choice) =>
      connectCluster(choice, { environment: { KUBECONFIG: cluster.kubeconfig }, homeFolder: "/nowhere" }),
    nowMs: () => NOW_MS,
    ...changes,
  };
}

export function drainsOn(cluster: FakeCluster, ...args: readonly string[]): Promise<Ran> {
  return lastcall(args, {}, undefined, onCluster(cluster));
}
