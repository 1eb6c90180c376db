/** Starts the webhook and, if it runs a relay, the simulated API server. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Fault } from "../fault.ts";
import { type DemoCluster, startDemoCluster } from "./api-server/demo-cluster.ts";
import { type Clock, waitAtMost } from "./clock.ts";
import { accepts, closeServer, listen } from "./network/sockets.ts";
import type { ProcessTable } from "./pods/process-table.ts";
import type { AdmissionTarget } from "./rollout/admission-client.ts";

type ServersRequest = {
  readonly hasRelay: boolean;
  readonly namespace: string;
};

type ServerPorts = {
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly scratch: string;
  readonly host: string;
};

export type Servers = {
  readonly webhook: AdmissionTarget;
  /** `undefined` without the relay, the only reader of EndpointSlices. */
  readonly writeSlice: DemoCluster["writeSlice"] | undefined;
  readonly stop: () => Promise<void>;
};

/** A start takes 2 s of CPU time, mostly for compilation; on a machine with thirty busy processes this takes half a minute. */
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 2_000;
const POLL_MS = 50;
const OUTPUT_LINES = 20;

/** @throws Fault ERR_DEMO_FAILED with the webhook's last output when a server does not start */
export async function startServers({ hasRelay, namespace }: ServersRequest, ports: ServerPorts): Promise<Servers> {
  const cluster = hasRelay ? await startDemoCluster({ ...ports, namespace }) : undefined;
  try {
    const webhook = await startWebhook(cluster, ports);
    return {
      webhook: webhook.target,
      writeSlice: cluster?.writeSlice,
      stop: async () => {
        await webhook.stop();
        await cluster?.close();
      },
    };
  } catch (error) {
    await cluster?.close();
    throw error;
  }
}

async function startWebhook(cluster: DemoCluster | undefined, { clock, processes, host, ...ports }: ServerPorts) {
  const port = await freePort(host);
  const caFile = join(ports.scratch, "ca.pem");
  const output: string[] = [];
  const flags = [`--host=${host}`, `--port=${port}`, "--opt-in=all", `--ca-file=${caFile}`];
  const relayFlags = cluster === undefined ? [] : relayFlagsOf(cluster, host, await freePort(host));
  const server = processes.start({
    // The webhook does not have clients when the demo stops it, so it does not have to drain.
    argv: [...ports.program, "webhook", ...flags, "--drain-delay=0s", ...relayFlags],
    environment: ports.environment,
    onLine: (line) => void output.push(line),
  });
  const deadlineMs = clock.nowMs() + START_LIMIT_MS;
  for (;;) {
    const authority = await readFile(caFile, "utf8").catch(() => "");
    if (authority.includes("END CERTIFICATE") && (await accepts({ host, port }))) {
      const stop = async () => {
        server.signal("SIGTERM");
        await waitAtMost(clock, STOP_LIMIT_MS, server.exited);
        server.signal("SIGKILL");
        await server.exited;
      };
      return { target: { host, port, authority }, stop };
    }
    if (!server.isRunning() || clock.nowMs() > deadlineMs)
      throw new Fault(
        "ERR_DEMO_FAILED",
        `the webhook did not start; last output: ${output.slice(-OUTPUT_LINES).join(" | ")}`,
      );
    await clock.wait(POLL_MS);
  }
}

function relayFlagsOf({ kubeconfigFile }: DemoCluster, host: string, port: number): readonly string[] {
  return [
    "--cluster=watch",
    "--kube-version=auto",
    `--kubeconfig=${kubeconfigFile}`,
    "--relay-secret=lastcall-relay",
    `--relay-port=${port}`,
    `--relay-address=${host}:${port}`,
  ];
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  const port = await listen(server, host);
  await closeServer(server);
  return port;
}
