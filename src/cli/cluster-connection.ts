/** Connects the command line to a cluster, with kubectl's search order of kubeconfigs. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createApiClient } from "../api-server/api-client.ts";
import type { KubeConfig } from "../api-server/kube-config.ts";
import { loadKubeConfig } from "../api-server/load-kube-config.ts";
import { createPodClient } from "../api-server/pod-client.ts";
import { Fault } from "../fault.ts";
import { findNearest } from "../policy/nearest.ts";
import { quote } from "../policy/quote.ts";
import type { ClusterChoice, ClusterConnection } from "./drain-ports.ts";

export type UserEnvironment = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
};

class ConnectionProblem extends Error {}

export async function connectCluster(choice: ClusterChoice, user: UserEnvironment): Promise<ClusterConnection> {
  try {
    const files = kubeconfigFiles(choice, user);
    const connection =
      files === undefined ? await loadKubeConfig({ kubeconfigFile: "" }) : await readFiles(files, choice);
    const { request, close } = createApiClient(connection);
    const server = connection.getCurrentCluster()?.server ?? "";
    return { ok: true, server, request, podClient: createPodClient(connection, request), close };
  } catch (error) {
    if (error instanceof ConnectionProblem || error instanceof Fault) return { ok: false, message: error.message };
    throw error;
  }
}

/** @returns `undefined` if the process runs in a Pod and has to use the Pod's service account */
function kubeconfigFiles(
  choice: ClusterChoice,
  { environment, homeFolder }: UserEnvironment,
): readonly string[] | undefined {
  if (choice.kubeconfig !== undefined) return [choice.kubeconfig];
  const listedFiles = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (listedFiles.length > 0) {
    const existingFiles = listedFiles.filter((file) => existsSync(file));
    if (existingFiles.length > 0) return existingFiles;
    throw new ConnectionProblem(
      `KUBECONFIG: no such file: ${listedFiles.join(", ")}; correct it or set --kubeconfig FILE`,
    );
  }
  const defaultFile = join(homeFolder, ".kube", "config");
  if (existsSync(defaultFile)) return [defaultFile];
  if (environment["KUBERNETES_SERVICE_HOST"] !== undefined && choice.context === undefined) return undefined;
  throw new ConnectionProblem(`no kubeconfig found at ${defaultFile}; set --kubeconfig FILE or KUBECONFIG`);
}

/** Merges files in order. If several files define the same name, the client uses the first definition, as kubectl does. */
async function readFiles(files: readonly string[], choice: ClusterChoice): Promise<KubeConfig> {
  const { KubeConfig } = await import("../api-server/kube-config.ts");
  const kubeconfigs = files.map((file) => {
    const kubeconfig = new KubeConfig();
    try {
      kubeconfig.loadFromFile(file);
    } catch (error) {
      throw new ConnectionProblem(`${file}: not a readable kubeconfig: ${firstLine(error)}`);
    }
    return kubeconfig;
  });
  const connection = new KubeConfig();
  connection.loadFromOptions({
    clusters: kubeconfigs.flatMap((config) => config.getClusters()),
    users: kubeconfigs.flatMap((config) => config.getUsers()),
    contexts: kubeconfigs.flatMap((config) => config.getContexts()),
    currentContext:
      choice.context ?? kubeconfigs.map((config) => config.getCurrentContext()).find((name) => (name ?? "") !== ""),
  });
  assertUsable(connection, files.join(" and "));
  return connection;
}

function assertUsable(connection: KubeConfig, where: string): void {
  const context: string | undefined = connection.getCurrentContext();
  if (context === undefined) throw new ConnectionProblem(`${where}: current-context is not set; set --context NAME`);
  const names = connection.getContexts().map(({ name }) => name);
  if (!names.includes(context)) {
    const suggestion = findNearest(context, names);
    const hint =
      suggestion === undefined
        ? `existing contexts: ${names.map(quote).join(", ") || "none"}`
        : `did you mean ${quote(suggestion)}?`;
    throw new ConnectionProblem(`${where}: context ${quote(context)} does not exist; ${hint}`);
  }
  if (!URL.canParse(connection.getCurrentCluster()?.server ?? ""))
    throw new ConnectionProblem(
      `${where}: context ${quote(context)} has no cluster with a valid server URL; set another --context`,
    );
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
