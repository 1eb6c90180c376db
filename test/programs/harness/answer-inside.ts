/** Answers a request from among Pods: with a network for them, and the webhook and the relay that they know. */
import { join } from "node:path";
import { realClock } from "../../../src/demo/clock.ts";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import type { PodNetwork } from "../../../src/demo/network/pod-network.ts";
import { localManagerImage, type ManagerImage } from "../../../src/demo/pods/pod-runner.ts";
import type { ProcessTable } from "../../../src/demo/pods/process-table.ts";
import { type Servers, startServers } from "../../../src/demo/servers.ts";
import { answerRequest, type Workshop } from "./answer-request.ts";

const SOURCE = join(import.meta.dirname, "../../../src");
const LASTCALL = join(SOURCE, "lastcall.ts");

/** What a script finds around it; Pods are started with all of it. */
export type Surroundings = ManagerImage & {
  readonly clock: typeof realClock;
  readonly processes: ProcessTable;
  readonly network: PodNetwork;
  readonly random: () => number;
  readonly imageEnvironment: Readonly<Record<string, string>>;
  readonly servers: Servers;
};

/** @param work gets the request as it was written; `namespace` is where its Pods are. */
export function answerInside<Request>(
  work: (request: Request, surroundings: Surroundings) => Promise<object>,
  namespaceOf: (request: Request) => string,
): Promise<never> {
  return answerRequest<Request>(async (request, workshop) => {
    const surroundings = await surround(workshop, namespaceOf(request));
    const result = await work(request, surroundings);
    await surroundings.servers.stop();
    return result;
  });
}

async function surround({ processes, scratch }: Workshop, namespace: string): Promise<Surroundings> {
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
  return {
    clock: realClock,
    processes,
    network,
    random: Math.random,
    ...localManagerImage(),
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
