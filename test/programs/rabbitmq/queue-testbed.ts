/** Starts Pods, with or without admission by the webhook, and Python clients. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createPodRunner } from "../../../src/demo/pods/pod-runner.ts";
import type { LocalProcess } from "../../../src/demo/pods/process-table.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { withName } from "../../../src/demo/rollout/deployment.ts";
import type { ClusterContext } from "../harness/namespace-script.ts";
import type { QueueRequest } from "./queue-request.ts";

const CLIENTS_FOLDER = join(import.meta.dirname, "clients");

export type Report = Readonly<Record<string, unknown>>;

export type Client = { readonly process: LocalProcess; readonly reports: readonly Report[] };

export type Testbed = ClusterContext & {
  readonly request: QueueRequest;
  readonly clientProgram: (name: string) => string;
  readonly startPod: (
    pod: object,
    lastcall: boolean,
  ) => Promise<{ readonly pod: RunningPod; readonly injected: boolean }>;
  /** Starts a program of `clients` with its own Pod address, and adds each JSON line of its output to `reports`. */
  readonly startClient: (name: string, args: readonly string[]) => Promise<Client>;
  readonly close: () => Promise<void>;
};

export function createTestbed(request: QueueRequest, cluster: ClusterContext): Testbed {
  const { servers, processes, network } = cluster;
  const runner = createPodRunner({ ...cluster, onEvent: () => {} });
  return {
    ...cluster,
    request,
    clientProgram: (name) => join(CLIENTS_FOLDER, name),
    startPod: async (manifest, lastcall) => {
      const admission = lastcall ? await admitPod(manifest, servers.webhook) : { pod: manifest, changed: false };
      const uid = randomUUID();
      const pod = await runner.start(withName(admission.pod, uid.slice(0, 5), uid));
      return { pod, injected: admission.changed };
    },
    startClient: async (name, args) => {
      const attachment = await network.attach();
      const reports: Report[] = [];
      const environment = {
        ...cluster.imageEnvironment,
        PYTHONPATH: request.pythonPath,
        PYTHONDONTWRITEBYTECODE: "1",
      };
      const argv = attachment.commandInside([request.python, join(CLIENTS_FOLDER, name), ...args]);
      const onLine = (line: string) => {
        if (line.startsWith("{")) reports.push(JSON.parse(line));
        else process.stderr.write(`${name} ${args.join(" ")}: ${line}\n`);
      };
      const client = processes.start({ argv, environment, onLine });
      void client.exited.then(attachment.release);
      return { process: client, reports };
    },
    close: runner.close,
  };
}
