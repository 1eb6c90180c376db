/** Describes the state of a simulated cluster by the names of its CAs. */
import { parsePemBlocks } from "../../../src/authority/certificate.ts";
import { createCluster, type SimulatedCluster } from "./simulated-cluster.ts";

/** Marks the name of a dropped CA, which is still in the Secret but no longer in caBundles. */
export const DROPPED_SUFFIX = " (dropped)";

export type ClusterState = {
  readonly signer: string;
  readonly next: string;
  readonly retired: readonly string[];
  readonly bundles: readonly (readonly string[])[];
  readonly leaves: readonly string[];
};

export function stateOf(cluster: SimulatedCluster): ClusterState {
  const data = cluster.store.secret()?.data ?? {};
  const rows = JSON.parse(data["retired.json"] ?? "[]") as readonly { certificate: string; dropped?: boolean }[];
  return {
    signer: namesIn(data["ca.crt"] ?? "").join(),
    next: namesIn(data["next.crt"] ?? "").join(),
    retired: rows.map((row) => `${namesIn(row.certificate).join()}${row.dropped === true ? DROPPED_SUFFIX : ""}`),
    bundles: (cluster.store.configuration()?.bundles ?? []).map(namesIn),
    leaves: cluster.replicas.map((replica) => nameOf(replica.reconciler.leaf()?.cert ?? "")),
  };
}

/** Starts a cluster whose replicas are ready; `reconcileAll` reconciles them in sequence. */
export async function startCluster(
  replicaCount: number,
): Promise<{ readonly cluster: SimulatedCluster; readonly reconcileAll: () => Promise<void> }> {
  const cluster = createCluster(replicaCount);
  const reconcileAll = async (): Promise<void> => {
    for (const replica of cluster.replicas) await cluster.reconcile(replica);
  };
  await reconcileAll();
  return { cluster, reconcileAll };
}

function namesIn(text: string): readonly string[] {
  return parsePemBlocks(text).blocks.map((block) => nameOf(block.id));
}

function nameOf(body: string): string {
  if (body === "") return "";
  const claims: unknown = JSON.parse(Buffer.from(body, "base64").toString());
  return typeof claims === "object" && claims !== null && "name" in claims ? String(claims.name) : "?";
}
