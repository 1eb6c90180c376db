/** The other side of `inside-namespaces.ts`: reads the request, works, writes the result, leaves. Leaves when told to. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import type { PodNetwork } from "../../../src/demo/network/pod-network.ts";
import { createProcessTable, type ProcessTable } from "../../../src/demo/pods/process-table.ts";
import { realClock } from "../../../src/demo/real-clock.ts";
import { type Servers, startServers } from "../../../src/demo/servers.ts";
import { Fault } from "../../../src/fault.ts";

const SOURCE = join(import.meta.dirname, "../../../src");
const LASTCALL = join(SOURCE, "lastcall.ts");
const NODE_MANAGER = join(SOURCE, "manager/node-main.ts");
const NATIVE_MANAGER = join(SOURCE, "../build/native/lastcall");

/** What a script finds around it; Pods are started with all of it. */
export type Surroundings = {
  readonly clock: typeof realClock;
  readonly processes: ProcessTable;
  readonly network: PodNetwork;
  readonly random: () => number;
  /** The native build where there is one. */
  readonly manager: "native" | "node";
  readonly managerProgram: readonly string[];
  readonly imageEnvironment: Readonly<Record<string, string>>;
  readonly servers: Servers;
};

/** @param work gets the request as it was written; `namespace` is where its Pods are. */
export async function answerInside(
  work: (request: unknown, surroundings: Surroundings) => Promise<object>,
  namespaceOf: (request: unknown) => string,
): Promise<void> {
  const [requestFile = "", resultFile = "", scratch = ""] = process.argv.slice(2);
  const processes = createProcessTable();
  process.on("exit", processes.killAll);
  // The leash of whoever started this.
  const leave = () => process.exit(130);
  process.stdin.once("end", leave).once("error", leave).resume();
  try {
    const request: unknown = JSON.parse(readFileSync(requestFile, "utf8"));
    const surroundings = await surround(processes, scratch, namespaceOf(request));
    const result = await work(request, surroundings);
    await surroundings.servers.stop();
    writeFileSync(resultFile, JSON.stringify(result));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Fault ? error.message : (error as Error).stack}\n`);
    process.exit(1);
  }
}

async function surround(processes: ProcessTable, scratch: string, namespace: string): Promise<Surroundings> {
  const network = await createNamespaceNetwork();
  const imageEnvironment = environmentOfImages();
  const servers = await startServers(
    { relay: true, namespace },
    {
      clock: realClock,
      processes,
      program: [process.execPath, LASTCALL],
      environment: imageEnvironment,
      scratch,
      host: network.webhookAddress,
    },
  );
  const native = existsSync(NATIVE_MANAGER);
  return {
    clock: realClock,
    processes,
    network,
    random: Math.random,
    manager: native ? "native" : "node",
    managerProgram: native ? [NATIVE_MANAGER] : [process.execPath, NODE_MANAGER],
    imageEnvironment,
    servers,
  };
}

/** What an image would set; nothing else of this shell reaches a container. */
function environmentOfImages(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "LANG", "NODE_COMPILE_CACHE"]) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
