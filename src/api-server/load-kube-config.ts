/** Loads a kubeconfig file or the Pod's ServiceAccount. The package is imported only when a cluster is used. */
import type { KubeConfig } from "@kubernetes/client-node";
import { Fault } from "../fault.ts";

export type ConnectionSettings = {
  /** Empty: the ServiceAccount of the Pod. */
  readonly kubeconfigFile: string;
};

/**
 * Sends no request.
 *
 * @throws Fault ERR_INPUT_UNREADABLE with the file, or when neither a file nor a Pod is there
 */
export async function loadKubeConfig(settings: ConnectionSettings): Promise<KubeConfig> {
  const { KubeConfig } = await import("./kube-config.ts");
  const connection = new KubeConfig();
  if (settings.kubeconfigFile === "") {
    connection.loadFromCluster();
    if (!URL.canParse(connection.getCurrentCluster()?.server ?? "") || isUndefinedServer(connection)) {
      const detail = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: not running in a Pod";
      throw new Fault("ERR_INPUT_UNREADABLE", `${detail}; set --kubeconfig FILE`);
    }
    return connection;
  }
  try {
    connection.loadFromFile(settings.kubeconfigFile);
  } catch (error) {
    throw new Fault("ERR_INPUT_UNREADABLE", `${settings.kubeconfigFile}: ${firstLine(error)}`, error);
  }
  const server = connection.getCurrentCluster()?.server;
  if (server === undefined || !URL.canParse(server)) {
    const context = connection.getCurrentContext();
    const detail = `its current-context ${context === undefined ? "is missing" : `"${context}"`} leads to no cluster with a URL`;
    throw new Fault("ERR_INPUT_UNREADABLE", `${settings.kubeconfigFile}: ${detail}`);
  }
  return connection;
}

/** The package renders a missing variable as the host `undefined`. */
function isUndefinedServer(connection: KubeConfig): boolean {
  return /^https?:\/\/undefined:/.test(connection.getCurrentCluster()?.server ?? "");
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
