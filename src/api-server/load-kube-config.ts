/** Loads a kubeconfig file or the Pod's ServiceAccount. `@kubernetes/client-node` is imported only if a cluster is used. */
import type { KubeConfig } from "@kubernetes/client-node";
import { Fault } from "../fault.ts";

export type ConnectionSettings = {
  /** Empty for the ServiceAccount of the Pod. */
  readonly kubeconfigFile: string;
};

/**
 * Does not send a request.
 *
 * @throws Fault ERR_INPUT_UNREADABLE if the file cannot be read, or if no file is set and the process does not run in a Pod
 */
export async function loadKubeConfig(settings: ConnectionSettings): Promise<KubeConfig> {
  const { KubeConfig } = await import("./kube-config.ts");
  const kubeConfig = new KubeConfig();
  if (settings.kubeconfigFile === "") {
    kubeConfig.loadFromCluster();
    if (!URL.canParse(kubeConfig.getCurrentCluster()?.server ?? "") || hasUndefinedHost(kubeConfig)) {
      const detail =
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, because this process does not run in a Pod";
      throw new Fault("ERR_INPUT_UNREADABLE", `${detail}; set --kubeconfig FILE`);
    }
    return kubeConfig;
  }
  try {
    kubeConfig.loadFromFile(settings.kubeconfigFile);
  } catch (error) {
    throw new Fault("ERR_INPUT_UNREADABLE", `${settings.kubeconfigFile}: ${firstLine(error)}`, error);
  }
  const server = kubeConfig.getCurrentCluster()?.server;
  if (server === undefined || !URL.canParse(server)) {
    const context = kubeConfig.getCurrentContext();
    const detail = `current-context ${context === undefined ? "is not set" : `"${context}" has no cluster with a server URL`}; select a context with kubectl config use-context`;
    throw new Fault("ERR_INPUT_UNREADABLE", `${settings.kubeconfigFile}: ${detail}`);
  }
  return kubeConfig;
}

/** `@kubernetes/client-node` writes a missing variable into the URL as the host `undefined`. */
function hasUndefinedHost(kubeConfig: KubeConfig): boolean {
  return /^https?:\/\/undefined:/.test(kubeConfig.getCurrentCluster()?.server ?? "");
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
