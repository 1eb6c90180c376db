/** What the scenes share: Pods that go through admission, and Python programs. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createPodRunner } from "../../../src/demo/pods/pod-runner.ts";
import type { LocalProcess } from "../../../src/demo/pods/process-table.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { namedPod } from "../../../src/demo/rollout/deployment.ts";
import type { Surroundings } from "../harness/answer-inside.ts";
import type { QueueRequest } from "./queue-request.ts";

const CLIENTS = join(import.meta.dirname, "clients");

export type Told = Readonly<Record<string, unknown>>;

export type Client = { readonly process: LocalProcess; readonly told: readonly Told[] };

export type Stage = Surroundings & {
  readonly request: QueueRequest;
  readonly clientProgram: (name: string) => string;
  /** @param pod before admission */
  readonly startPod: (
    pod: object,
    lastcall: boolean,
  ) => Promise<{ readonly pod: RunningPod; readonly injected: boolean }>;
  /** A program of `clients` in a Pod of its own, so not at the kubelet's address; `told` grows by each line it prints. */
  readonly startClient: (name: string, words: readonly string[]) => Promise<Client>;
  readonly close: () => Promise<void>;
};

export function createStage(request: QueueRequest, surroundings: Surroundings): Stage {
  const { servers, processes, network } = surroundings;
  const runner = createPodRunner({ ...surroundings, onEvent: () => {} });
  return {
    ...surroundings,
    request,
    clientProgram: (name) => join(CLIENTS, name),
    startPod: async (manifest, lastcall) => {
      const admitted = lastcall ? await admitPod(manifest, servers.webhook) : { pod: manifest, changed: false };
      const uid = randomUUID();
      const pod = await runner.start(namedPod(admitted.pod, uid.slice(0, 5), uid));
      return { pod, injected: admitted.changed };
    },
    startClient: async (name, words) => {
      const attachment = await network.attach();
      const told: Told[] = [];
      const environment = {
        ...surroundings.imageEnvironment,
        PYTHONPATH: request.pythonPath,
        PYTHONDONTWRITEBYTECODE: "1",
      };
      const argv = attachment.inside([request.python, join(CLIENTS, name), ...words]);
      const onLine = (line: string) => {
        if (line.startsWith("{")) told.push(JSON.parse(line));
        else process.stderr.write(`${name} ${words.join(" ")}: ${line}\n`);
      };
      const client = processes.start({ argv, environment, onLine });
      void client.exited.then(attachment.release);
      return { process: client, told };
    },
    close: runner.close,
  };
}
