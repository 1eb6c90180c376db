/** How the command line reaches a cluster: the places that kubectl searches. Loads the client only when it is needed. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createApiClient } from "../api-server/api-client.ts";
import type { KubeConfig } from "../api-server/kube-config.ts";
import { loadKubeConfig } from "../api-server/load-kube-config.ts";
import { createPodClient } from "../api-server/pod-client.ts";
import { Fault } from "../fault.ts";
import { nearest } from "../policy/nearest.ts";
import { quote } from "../policy/quote.ts";
import type { ClusterChoice, Connected } from "./drain-ports.ts";

export type Surroundings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
};

/** What keeps a person from being connected, as a sentence. */
class NoConnection extends Error {}

export async function connectCluster(choice: ClusterChoice, surroundings: Surroundings): Promise<Connected> {
  try {
    const files = kubeconfigFiles(choice, surroundings);
    const connection =
      files === undefined ? await loadKubeConfig({ kubeconfigFile: "" }) : await readFiles(files, choice);
    const { request, close } = createApiClient(connection);
    const server = connection.getCurrentCluster()?.server ?? "";
    return { ok: true, server, request, askPod: createPodClient(connection, request), close };
  } catch (error) {
    if (error instanceof NoConnection || error instanceof Fault) return { ok: false, message: error.message };
    throw error;
  }
}

/** @returns `undefined` inside of a Pod, whose own account then speaks */
function kubeconfigFiles(
  choice: ClusterChoice,
  { environment, homeFolder }: Surroundings,
): readonly string[] | undefined {
  if (choice.kubeconfig !== undefined) return [choice.kubeconfig];
  const listed = (environment["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (listed.length > 0) {
    const there = listed.filter((file) => existsSync(file));
    if (there.length > 0) return there;
    throw new NoConnection(`KUBECONFIG names ${listed.join(" and ")}, and there is no such file`);
  }
  const usual = join(homeFolder, ".kube", "config");
  if (existsSync(usual)) return [usual];
  if (environment["KUBERNETES_SERVICE_HOST"] !== undefined && choice.context === undefined) return undefined;
  throw new NoConnection(`no kubeconfig was found: give --kubeconfig FILE or set KUBECONFIG (there is no ${usual})`);
}

/** Of several files that name the same thing the first is right: the client takes the first it finds. */
async function readFiles(files: readonly string[], choice: ClusterChoice): Promise<KubeConfig> {
  const { KubeConfig } = await import("../api-server/kube-config.ts");
  const read = files.map((file) => {
    const one = new KubeConfig();
    try {
      one.loadFromFile(file);
    } catch (error) {
      throw new NoConnection(`${file} is no kubeconfig that can be read: ${firstLine(error)}`);
    }
    return one;
  });
  const connection = new KubeConfig();
  connection.loadFromOptions({
    clusters: read.flatMap((one) => one.getClusters()),
    users: read.flatMap((one) => one.getUsers()),
    contexts: read.flatMap((one) => one.getContexts()),
    currentContext: choice.context ?? read.map((one) => one.getCurrentContext()).find((name) => (name ?? "") !== ""),
  });
  refuseUnusable(connection, files.join(" and "));
  return connection;
}

function refuseUnusable(connection: KubeConfig, where: string): void {
  const context: string | undefined = connection.getCurrentContext();
  if (context === undefined) throw new NoConnection(`${where}: no current-context is set; give --context NAME`);
  const names = connection.getContexts().map(({ name }) => name);
  if (!names.includes(context)) {
    const slip = nearest(context, names);
    const offer =
      slip === undefined ? `it has ${names.map(quote).join(", ") || "none"}` : `did you mean ${quote(slip)}?`;
    throw new NoConnection(`${where}: there is no context ${quote(context)}; ${offer}`);
  }
  if (!URL.canParse(connection.getCurrentCluster()?.server ?? ""))
    throw new NoConnection(`${where}: its context ${quote(context)} leads to no cluster with a URL`);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
