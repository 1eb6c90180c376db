/** The other side of `inside-namespaces.ts`: reads the request, works, writes the result, and ends the process. */
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

export type Workshop = {
  /** Everything that it starts ends with this process. */
  readonly processes: ProcessTable;
  /** A folder that is gone afterwards. */
  readonly scratch: string;
};

/** Pods are started with all of it. */
export type Surroundings = Workshop &
  ManagerImage & {
    readonly clock: typeof realClock;
    readonly network: PodNetwork;
    readonly random: () => number;
    readonly imageEnvironment: Readonly<Record<string, string>>;
    readonly servers: Servers;
  };

/** @param work gets the request as it was written; what it returns is written as JSON. */
export async function answerRequest<Request>(
  work: (request: Request, workshop: Workshop) => Promise<object>,
  processes: ProcessTable = createProcessTable(),
): Promise<never> {
  const [requestFile = "", resultFile = "", scratch = ""] = process.argv.slice(2);
  process.on("exit", processes.killAll);
  // The leash of the program that started this.
  const leave = () => process.exit(130);
  process.stdin.once("end", leave).once("error", leave).resume();
  try {
    const request: Request = JSON.parse(readFileSync(requestFile, "utf8"));
    writeFileSync(resultFile, JSON.stringify(await work(request, { processes, scratch })));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Fault ? error.message : (error as Error).stack}\n`);
    process.exit(1);
  }
}

/** The same with a network for Pods, and the webhook and the relay that Pods are given. */
export function answerInside<Request>(
  work: (request: Request, surroundings: Surroundings) => Promise<object>,
  processes?: ProcessTable,
): Promise<never> {
  return answerRequest<Request>(async (request, workshop) => {
    const network = await createNamespaceNetwork();
    const imageEnvironment = environmentOfImages();
    const servers = await startServers(
      { relay: true, namespace: NAMESPACE },
      {
        clock: realClock,
        ...workshop,
        program: [process.execPath, LASTCALL],
        environment: imageEnvironment,
        host: network.webhookAddress,
      },
    );
    const image = { ...localManagerImage(), imageEnvironment };
    const result = await work(request, {
      ...workshop,
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

/** What an image would set; nothing else of this shell reaches a container. */
function environmentOfImages(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "LANG", "NODE_COMPILE_CACHE"]) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
