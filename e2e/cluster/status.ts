/** Reports the state of the cluster, as text and JSON. */
import { KUBERNETES_VERSIONS } from "../build/module-table.ts";
import { describeMachineSize } from "../host/this-host.ts";
import { listNodes, type NodeState, requestApi } from "./api-request.ts";
import { type ClusterRecord, isRunning, readRecord } from "./record.ts";
import type { StateFolder } from "./state-folder.ts";

export type ClusterStatus = {
  /** `broken` after a crash, or if the API server does not answer. */
  readonly state: "down" | "up" | "broken";
  readonly kubernetes?: string;
  readonly kubeconfig?: string;
  readonly kubectl?: string;
  readonly nodes: readonly NodeState[];
  readonly runsOn?: ClusterRecord["host"];
};

export async function readStatus(state: StateFolder): Promise<ClusterStatus> {
  const record = readRecord(state.recordFile);
  if (record === undefined) return { state: "down", nodes: [] };
  const details = {
    kubernetes: KUBERNETES_VERSIONS[record.minor],
    kubeconfig: state.kubeconfig,
    kubectl: `${record.binaries}/kubectl`,
    runsOn: record.host,
  };
  if (!isRunning(record) || record.stage !== "up") return { state: "broken", nodes: [], ...details };
  try {
    const ready = (await requestApi("/readyz", state.pkiFolder)).status === 200;
    return { state: ready ? "up" : "broken", nodes: await listNodes(state.pkiFolder), ...details };
  } catch {
    return { state: "broken", nodes: [], ...details };
  }
}

export function statusLines(status: ClusterStatus): readonly string[] {
  if (status.state === "down" || status.runsOn === undefined) return ["No cluster is running."];
  const { kernel, cgroups, containerd, runc } = status.runsOn;
  return [
    status.state === "up"
      ? "The cluster is running."
      : 'The cluster is broken. Run "npm run cluster -- down" to remove it.',
    `Kubernetes ${status.kubernetes ?? "?"}, containerd ${containerd}, runc ${runc}, cgroups ${cgroups}, kernel ${kernel}, ${describeMachineSize()}`,
    ...status.nodes.map(
      ({ name, ready, kubelet }) => `node ${name}: ${ready ? "ready" : "not ready"}, kubelet ${kubelet}`,
    ),
    `export KUBECONFIG=${status.kubeconfig ?? ""}`,
    `kubectl: ${status.kubectl ?? ""}`,
  ];
}
