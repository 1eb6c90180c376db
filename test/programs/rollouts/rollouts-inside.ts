/** Process 1 of the namespaces in which a Deployment is rolled many times: assembles, rolls, returns the counts. */
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg, setPriority } from "node:os";
import { createProcessTable, type ProcessTable } from "../../../src/demo/pods/process-table.ts";
import { answerInside, type Surroundings } from "../harness/answer-inside.ts";
import { UPSTREAM_HOST, UPSTREAM_HTTP1_PORT } from "./app-facts.ts";
import { startClientNodes } from "./client-nodes.ts";
import { APP, deploymentOf } from "./deployments.ts";
import { rollAgain } from "./rolling.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

const FIRST = -10;

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

/**
 * Processes of a run go before what else the machine does, where the rights allow it: a client that gets no processor is
 * silent, a silent client is one whose drain may end, and a manager that gets none is late. How long clients stood still is
 * part of the result, whether this worked or not.
 */
function goFirst(pid: number): void {
  try {
    setPriority(pid, FIRST);
    // Linux shares out processors by session where it is set to, and then only this counts.
    writeFileSync(`/proc/${pid}/autogroup`, String(FIRST));
  } catch {
    // No rights, no such setting, or the process has ended: then it runs as everyone does.
  }
}

function goingFirst(processes: ProcessTable): ProcessTable {
  return {
    ...processes,
    start: (request) => {
      const started = processes.start(request);
      if (started.pid !== 0) goFirst(started.pid);
      return started;
    },
  };
}
