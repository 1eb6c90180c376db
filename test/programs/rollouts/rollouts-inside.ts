/** Process 1 of the namespaces in which a Deployment is rolled many times: assembles, rolls, returns the counts. */
import { availableParallelism, loadavg } from "node:os";
import { createProcessTable } from "../../../src/demo/pods/process-table.ts";
import { answerInside, type Surroundings } from "../harness/answer-inside.ts";
import { UPSTREAM_HOST, UPSTREAM_HTTP1_PORT } from "./app-facts.ts";
import { startClientNodes } from "./client-nodes.ts";
import { APP, deploymentOf } from "./deployments.ts";
import { goFirst, goingFirst } from "./go-first.ts";
import { rollAgain } from "./rolling.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

goFirst(process.pid);
await answerInside(rolled, goingFirst(createProcessTable()));

async function rolled(request: RolloutsRequest, surroundings: Surroundings): Promise<RolloutsResult> {
  const { network, scratch } = surroundings;
  const deployment = deploymentOf(request, scratch);
  if (request.driver === "envoy") startUpstream(surroundings);
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
  const { nodes: counts, drains } = await rollAgain({ ...request, deployment }, { ...surroundings, nodes });
  const [machineLoad = 0] = loadavg();
  return { manager: surroundings.manager, nodes: counts, drains, machineLoad, processors: availableParallelism() };
}

/** An app that is never rolled, for Pods that only pass requests on. */
function startUpstream({ processes, imageEnvironment }: Surroundings): void {
  processes.start({
    argv: [process.execPath, APP],
    environment: { ...imageEnvironment, UPSTREAM: "yes", LISTEN_ON: UPSTREAM_HOST, PORT: String(UPSTREAM_HTTP1_PORT) },
    onLine: (line) => process.stderr.write(`upstream: ${line}\n`),
  });
}
