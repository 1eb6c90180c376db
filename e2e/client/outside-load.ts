/** Runs the load client on the host, which is outside the cluster's network, against a node's address. */
import { once } from "node:events";
import { join } from "node:path";
import { follow } from "../host/run.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import type { LoadResult, RunningLoad } from "./load.ts";

const LOAD_CLIENT = join(import.meta.dirname, "../programs/load-client.ts");

/** Resolves once the client has connected. @param name of the artifact with the counts */
export async function startOutsideLoad(
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
      const result: LoadResult = JSON.parse(lines.at(-1) ?? "");
      namespace.saveArtifact(`${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
      for (const { at, client: kindOfClient, kind } of result.failures)
        namespace.addTimelineLine(`${name}, ${at}: ${kindOfClient} request failed: ${kind}`);
      return result;
    },
  };
}
