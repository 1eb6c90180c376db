/** Runs a script that `inside-namespaces.ts` started: reads its request, does its work, writes its result and exits. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realClock } from "../../../src/demo/clock.ts";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import type { PodNetwork } from "../../../src/demo/network/pod-network.ts";
import { localManagerImage, type ManagerImage } from "../../../src/demo/pods/pod-runner.ts";
import { createProcessTable, type ProcessTable } from "../../../src/demo/pods/process-table.ts";
import { type Servers, startServers } from "../../../src/demo/servers.ts";
import { Fault } from "../../../src/fault.ts";
import { NAMESPACE } from "./web-deployment.ts";

const LASTCALL = join(import.meta.dirname, "../../../src/lastcall.ts");

export type ScriptContext = {
  readonly processes: ProcessTable;
  readonly scratch: string;
};

export type ClusterContext = ScriptContext &
  ManagerImage & {
    readonly clock: typeof realClock;
    readonly network: PodNetwork;
    readonly random: () => number;
    readonly imageEnvironment: Readonly<Record<string, string>>;
    readonly servers: Servers;
  };

export async function runScript<Request>(
  work: (request: Request, context: ScriptContext) => Promise<object>,
  processes: ProcessTable = createProcessTable(),
): Promise<never> {
  const [requestFile = "", resultFile = "", scratch = ""] = process.argv.slice(2);
  process.on("exit", processes.killAll);
  // The parent holds the other end of stdin, which closes when the parent exits.
  const exit = () => process.exit(130);
  process.stdin.once("end", exit).once("error", exit).resume();
  try {
    const request: Request = JSON.parse(readFileSync(requestFile, "utf8"));
    writeFileSync(resultFile, JSON.stringify(await work(request, { processes, scratch })));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Fault ? error.message : (error as Error).stack}\n`);
    process.exit(1);
  }
}

export function runClusterScript<Request>(
  work: (request: Request, cluster: ClusterContext) => Promise<object>,
  processes?: ProcessTable,
): Promise<never> {
  return runScript<Request>(async (request, context) => {
    const network = await createNamespaceNetwork();
    const imageEnvironment = readImageEnvironment();
    const servers = await startServers(
      { hasRelay: true, namespace: NAMESPACE },
      {
        clock: realClock,
        ...context,
        program: [process.execPath, LASTCALL],
        environment: imageEnvironment,
        host: network.webhookAddress,
      },
    );
    const image = { ...localManagerImage(), imageEnvironment };
    const result = await work(request, {
      ...context,
      ...image,
      clock: realClock,
      network,
      random: Math.random,
      servers,
    });
    await servers.stop();
    return result;
  }, processes);
}

/** Reads from this process the variables that an image would set; containers do not inherit other variables of this process. */
function readImageEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "LANG", "NODE_COMPILE_CACHE"]) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
