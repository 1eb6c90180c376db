/** Runs, as PID 1 of a new PID namespace, many rolling updates of one Deployment, and returns the counts. */
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg, setPriority } from "node:os";
import { createProcessTable, type ProcessTable } from "../../../src/demo/pods/process-table.ts";
import { type ClusterContext, runClusterScript } from "../harness/namespace-script.ts";
import { UPSTREAM_HOST, UPSTREAM_HTTP1_PORT } from "./app-facts.ts";
import { startClientNodes } from "./client-nodes.ts";
import { APP, deploymentOf } from "./deployments.ts";
import { rollRepeatedly } from "./rolling.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

const HIGH_PRIORITY = -10;

raisePriority(process.pid);
await runClusterScript(rollDeployment, withRaisedPriority(createProcessTable()));

async function rollDeployment(request: RolloutsRequest, cluster: ClusterContext): Promise<RolloutsResult> {
  const { network, scratch } = cluster;
  const deployment = deploymentOf(request, scratch);
  if (request.driver === "envoy") startUpstream(cluster);
  // Each client process chooses Pods itself, like kube-proxy, and never connects to the Service's address. The clients can
  // therefore use this address as a second source address.
  const addresses = [network.trafficAddress, network.serviceAddress];
  const nodes = startClientNodes(
    request.propagationMs.map((propagationMs, index) => ({
      plan: request.load,
      share: 1 / request.propagationMs.length,
      propagationMs,
      localAddress: addresses[index % addresses.length] ?? network.trafficAddress,
    })),
  );
  const { nodes: counts, drains } = await rollRepeatedly({ ...request, deployment }, { ...cluster, nodes });
  const [machineLoad = 0] = loadavg();
  return { manager: cluster.manager, nodes: counts, drains, machineLoad, processors: availableParallelism() };
}

function startUpstream({ processes, imageEnvironment }: ClusterContext): void {
  processes.start({
    argv: [process.execPath, APP],
    environment: { ...imageEnvironment, UPSTREAM: "yes", LISTEN_ON: UPSTREAM_HOST, PORT: String(UPSTREAM_HTTP1_PORT) },
    onLine: (line) => process.stderr.write(`upstream: ${line}\n`),
  });
}

/**
 * Raises the priority of a process if the permissions allow it. Clients that wait for a processor send nothing, so a drain may
 * end too early; a manager that waits for a processor ends a drain too late. The result contains the longest stall of the clients.
 */
function raisePriority(pid: number): void {
  try {
    setPriority(pid, HIGH_PRIORITY);
    // With autogroups Linux schedules by session, so only the priority of the session has an effect.
    writeFileSync(`/proc/${pid}/autogroup`, String(HIGH_PRIORITY));
  } catch {
    // Without permission or autogroups, or after the process has exited, the priority stays unchanged.
  }
}

function withRaisedPriority(processes: ProcessTable): ProcessTable {
  return {
    ...processes,
    start: (request) => {
      const localProcess = processes.start(request);
      if (localProcess.pid !== 0) raisePriority(localProcess.pid);
      return localProcess;
    },
  };
}
