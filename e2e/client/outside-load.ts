/** Runs load on a node port from the host, which is outside the cluster's network. */
import { once } from "node:events";
import { join } from "node:path";
import type { V1Service } from "@kubernetes/client-node";
import { NODES } from "../cluster/addresses.ts";
import { follow } from "../host/run.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { type RunningLoad, saveLoadResult, sumOf } from "./load.ts";
import type { LoadSum } from "./under-load.ts";

const LOAD_CLIENT = join(import.meta.dirname, "../programs/load-client.ts");

/** Runs the change under load on the Service's port of each node. @param service of type NodePort */
export async function underOutsideLoad(
  namespace: CaseNamespace,
  service: string,
  change: () => Promise<unknown>,
): Promise<LoadSum> {
  const { spec } = await namespace.kubectl.json<V1Service>(["get", "service", service]);
  const port = spec?.ports?.[0]?.nodePort ?? 0;
  const loads = await Promise.all(
    NODES.map(({ name, address }) => startOutsideLoad(namespace, `outside-${name}`, { host: address, port })),
  );
  await change();
  return sumOf(await Promise.all(loads.map((load) => load.stop())));
}

/** Resolves once the client has connected. @param name of the artifact with the counts */
async function startOutsideLoad(
  namespace: CaseNamespace,
  name: string,
  target: { readonly host: string; readonly port: number },
): Promise<RunningLoad> {
  const lines: string[] = [];
  const args = [LOAD_CLIENT, `--host=${target.host}`, `--port=${target.port}`];
  const client = follow(process.execPath, args, (line) => lines.push(line));
  const whenClosed = once(client, "close");
  await waitUntil({ condition: `the load client has reached ${target.host}:${target.port}`, withinMs: 60_000 }, () => {
    if (client.exitCode !== null) throw new Error(`the load client ended with status ${client.exitCode}`);
    return Promise.resolve(lines.some((line) => line.includes('"started"')) ? true : undefined);
  });
  return {
    stop: async () => {
      client.kill("SIGTERM");
      await whenClosed;
      return saveLoadResult(namespace, name, lines.at(-1) ?? "");
    },
  };
}
