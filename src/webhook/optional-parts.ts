/** What only some settings ask for. Each is loaded only then: its code would cost every replica memory. */
import { hostname } from "node:os";
import type { RelayThread, RunnerParts } from "../relay/thread/worker-supervisor.ts";
import type { Cluster, ClusterParts } from "./cluster/cluster-runner.ts";
import type { EnforcementRunner } from "./enforcement/enforcement-runner.ts";
import type { Log } from "./log.ts";
import type { Meters } from "./metrics.ts";
import type { WebhookSettings } from "./settings.ts";

type EnforcementBeginnings = { readonly log: Log; readonly registry: Meters["registry"] };

export async function enforcementFor(
  settings: WebhookSettings,
  beginnings: EnforcementBeginnings,
): Promise<EnforcementRunner | undefined> {
  if (settings.enforceConfiguration === "") return undefined;
  const { startEnforcement } = await import("./enforcement/enforcement-runner.ts");
  return startEnforcement(settings, beginnings);
}

/** Longest time to begin without knowing the cluster; then the careful answers have to do. */
export const FIRST_READ_LIMIT_MS = 5_000;

type ClusterBeginnings = Pick<ClusterParts, "base" | "log" | "registry">;

export async function clusterFor(
  settings: WebhookSettings,
  beginnings: ClusterBeginnings,
): Promise<Cluster | undefined> {
  if (settings.cluster === "off") return undefined;
  const { loadKubeConfig: connectionTo } = await import("../api-server/load-kube-config.ts");
  const { startCluster } = await import("./cluster/cluster-runner.ts");
  const connection = await connectionTo(settings);
  const asksVersion = settings.kubeVersion === "auto";
  return startCluster({ ...beginnings, connection, asksVersion, watchesPulls: settings.watchPulls });
}

/**
 * Longest time to begin without the relay: Pods that come before it has read its Secret are not given it. It waits two seconds
 * for the API server itself; the rest is for a machine on which a thread takes long to begin.
 */
export const RELAY_READY_LIMIT_MS = 15_000;

type RelayBeginnings = Pick<RunnerParts, "newToken" | "registry"> & {
  readonly cluster: Cluster | undefined;
  readonly log: Log;
};

export async function relayFor(
  settings: WebhookSettings,
  beginnings: RelayBeginnings,
): Promise<RelayThread | undefined> {
  const { cluster, ...parts } = beginnings;
  if (settings.relaySecret === "" || cluster === undefined) return undefined;
  const { startRelayThread } = await import("../relay/thread/worker-supervisor.ts");
  return startRelayThread({
    ...parts,
    program: process.argv[1] ?? "",
    settings: {
      kubeconfigFile: settings.kubeconfigFile,
      namespace: settings.namespace,
      secretName: settings.relaySecret,
      host: settings.host,
      port: settings.relayPort,
      readsPods: settings.relayReadPods,
      adminPort: settings.adminPort,
      adminListen: settings.adminListen,
      instance: hostname(),
      reconcileMs: settings.certificateCheckMs,
    },
    address: settings.relayAddress,
    recordDrainEvent: cluster.tellDrain,
    wallMs: () => Date.now(),
  });
}
