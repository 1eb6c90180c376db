/** Runs `drains` and `timeline` in this process, against a cluster that is reached over TLS. */
import { connectCluster } from "../../../src/cli/cluster-connection.ts";
import type { DrainPorts } from "../../../src/cli/drain-ports.ts";
import { type CommandResult, lastcall, NO_CLUSTER } from "../run-lastcall.ts";
import type { FakeCluster } from "./fake-cluster.ts";

/** One minute after the end of the drain that `someDrain` returns. */
export const NOW_MS = 1_795_000_060_000;

export function portsOf(cluster: FakeCluster, changes: Partial<DrainPorts> = {}): DrainPorts {
  return {
    ...NO_CLUSTER,
    connect: (choice) =>
      connectCluster(choice, { environment: { KUBECONFIG: cluster.kubeconfig }, homeFolder: "/nowhere" }),
    nowMs: () => NOW_MS,
    ...changes,
  };
}

export function runOnCluster(cluster: FakeCluster, ...args: readonly string[]): Promise<CommandResult> {
  return lastcall(args, {}, undefined, portsOf(cluster));
}
