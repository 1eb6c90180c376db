/** Where the API server is and how to speak to it. Loads its package only when a cluster is asked for. */
import type { KubeConfig } from "@kubernetes/client-node";
import { Fault } from "../fault.ts";

export type ConnectionSettings = {
  /** Empty: the account of the Pod this process runs in. */
  readonly kubeconfigFile: string;
};

/**
 * Reads the file or the Pod's own account; sends nothing yet.
 *
 * @throws Fault ERR_INPUT_UNREADABLE naming the file, or saying that this is no Pod
 */
export async function connectionTo(settings: ConnectionSettings): Promise<KubeConfig> {
  const { KubeConfig } = await import("./kube-config.ts");
  const connection = new KubeConfig();
  if (settings.kubeconfigFile === "") {
    connection.loadFromCluster();
    if (!URL.canParse(connection.getCurrentCluster()?.server ?? "") || isUndefinedServer(connection)) {
      const detail = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no API server, so this is no Pod";
      throw new Fault("ERR_INPUT_UNREADABLE", `${detail}; give --kubeconfig FILE`);
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

/** The package writes what the environment lacks into the address as a word. */
function isUndefinedServer(connection: KubeConfig): boolean {
  return /^https?:\/\/undefined:/.test(connection.getCurrentCluster()?.server ?? "");
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
