/** Process 1 of the namespaces that `run-rollouts.ts` makes: assembles, rolls, writes the result. Leaves when told to. */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/demo/clock.ts";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import { localManagerImage } from "../../../src/demo/pods/pod-runner.ts";
import { createProcessTable } from "../../../src/demo/pods/process-table.ts";
import { placeOf } from "../../../src/demo/rollout/deployment.ts";
import { startServers } from "../../../src/demo/servers.ts";
import { Fault } from "../../../src/fault.ts";
import { UPSTREAM_HOST, UPSTREAM_HTTP1_PORT } from "./app-facts.ts";
import { startClientNodes } from "./client-nodes.ts";
import { APP } from "./deployments.ts";
import { goFirst, goingFirst } from "./go-first.ts";
import { rollAgain } from "./rolling.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

const SOURCE = join(import.meta.dirname, "../../../src");
const LASTCALL = join(SOURCE, "lastcall.ts");

const [requestFile = "", resultFile = "", scratch = ""] = process.argv.slice(2);
const processes = goingFirst(createProcessTable());
process.on("exit", processes.killAll);
// The leash of the program that started this.
const leave = () => process.exit(130);
process.stdin.once("end", leave).once("error", leave).resume();

try {
  writeFileSync(resultFile, JSON.stringify(await rolled(JSON.parse(readFileSync(requestFile, "utf8")))));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Fault ? error.message : (error as Error).stack}\n`);
  process.exit(1);
}

async function rolled(request: RolloutsRequest): Promise<RolloutsResult> {
  goFirst(process.pid);
  const network = await createNamespaceNetwork();
  const environment = environmentOfImages();
  if (request.upstream) startUpstream(environment);
  const servers = await startServers(
    { relay: true, namespace: placeOf(request.deployment).namespace },
    {
      clock: realClock,
      processes,
      program: [process.execPath, LASTCALL],
      environment,
      scratch,
      host: network.webhookAddress,
    },
  );
  // The Service's own address is free: each node chooses Pods by itself, as kube-proxy's rules do.
  const addresses = [network.trafficAddress, network.serviceAddress];
  const nodes = startClientNodes(
    request.propagationMs.map((propagationMs, index) => ({
      plan: request.load,
      share: 1 / request.propagationMs.length,
      propagationMs,
      localAddress: addresses[index % addresses.length] ?? network.trafficAddress,
    })),
  );
  const image = localManagerImage();
  const { nodes: counts, drains } = await rollAgain(request, {
    clock: realClock,
    processes,
    network,
    managerProgram: image.managerProgram,
    preloadLibrary: image.preloadLibrary,
    imageEnvironment: environment,
    servers,
    nodes,
  });
  await servers.stop();
  const [machineLoad = 0] = loadavg();
  return {
    manager: image.manager,
    nodes: counts,
    drains,
    machineLoad,
    processors: availableParallelism(),
  };
}

function startUpstream(environment: Readonly<Record<string, string>>): void {
  processes.start({
    argv: [process.execPath, APP],
    environment: { ...environment, UPSTREAM: "yes", LISTEN_ON: UPSTREAM_HOST, PORT: String(UPSTREAM_HTTP1_PORT) },
    onLine: (line) => process.stderr.write(`upstream: ${line}\n`),
  });
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
