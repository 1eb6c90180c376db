/** Starts the optional components. A component is imported only if a setting enables it, to save memory. */
import { hostname } from "node:os";
import type { RelayThread, RelayThreadParts } from "../relay/thread/worker-supervisor.ts";
import type { Cluster, ClusterOptions } from "./cluster/cluster-runner.ts";
import type { EnforcementRunner } from "./enforcement/enforcement-runner.ts";
import type { Log } from "./log.ts";
import type { WebhookMetrics } from "./metrics.ts";
import type { WebhookSettings } from "./settings.ts";

type EnforcementInputs = { readonly log: Log; readonly registry: WebhookMetrics["registry"] };

export async function startEnforcementIfSet(
  settings: WebhookSettings,
  inputs: EnforcementInputs,
): Promise<EnforcementRunner | undefined> {
  if (settings.enforceConfiguration === "") return undefined;
  const { startEnforcement } = await import("./enforcement/enforcement-runner.ts");
  return startEnforcement(settings, inputs);
}

/** The webhook starts after this time even if the caches are not filled; unknown facts disable newer features. */
export const FIRST_READ_LIMIT_MS = 5_000;

type ClusterInputs = Pick<ClusterOptions, "constantFacts" | "log" | "registry">;

export async function startClusterIfSet(
  settings: WebhookSettings,
  inputs: ClusterInputs,
): Promise<Cluster | undefined> {
  if (settings.cluster === "off") return undefined;
  const { loadKubeConfig } = await import("../api-server/load-kube-config.ts");
  const { startCluster } = await import("./cluster/cluster-runner.ts");
  const kubeConfig = await loadKubeConfig(settings);
  const readsVersion = settings.kubeVersion === "auto";
  return startCluster({ ...inputs, kubeConfig, readsVersion, watchesPulls: settings.watchPulls });
}

/**
 * The webhook starts after this time even if the relay has not read its Secret; until the relay reads it, Pods get no relay
 * access. The relay waits 2 s for the API server; the rest of the time is for a slow start of the thread.
 */
export const RELAY_READY_LIMIT_MS = 15_000;

type RelayInputs = Pick<RelayThreadParts, "newToken" | "registry"> & {
  readonly cluster: Cluster | undefined;
  readonly log: Log;
};

export async function startRelayIfSet(
  settings: WebhookSettings,
  inputs: RelayInputs,
): Promise<RelayThread | undefined> {
  const { cluster, ...options } = inputs;
  if (settings.relaySecret === "" || cluster === undefined) return undefined;
  const { startRelayThread } = await import("../relay/thread/worker-supervisor.ts");
  return startRelayThread({
    ...options,
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
    recordDrainEvent: cluster.recordDrainEvent,
    wallMs: () => Date.now(),
  });
}
