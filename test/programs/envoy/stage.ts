/** What scenes stand on, inside private namespaces: a network for Pods, the upstream, and a way to start an injected Pod. */
import { readFileSync } from "node:fs";
import { realClock } from "../../../src/demo/clock.ts";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import type { PodNetwork } from "../../../src/demo/network/pod-network.ts";
import { createPodRunner } from "../../../src/demo/pods/pod-runner.ts";
import type { ProcessTable } from "../../../src/demo/pods/process-table.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { injected } from "../../injection/given.ts";

export type Stage = {
  readonly network: PodNetwork;
  readonly upstream: string;
  /** Sends the Pod through injection and starts it. */
  readonly startPod: (pod: object, managerProgram: readonly string[]) => Promise<StagedPod>;
};

export type StagedPod = {
  readonly pod: RunningPod;
  readonly kill: () => Promise<void>;
  /** The most memory the manager's process has held, in KiB; 0 once it is gone. */
  readonly managerPeakKib: () => number;
  /** How long the manager and the thread of Envoy that answers it have waited for a processor, in milliseconds. */
  readonly waitedMs: () => number;
};

const UPSTREAM_PROGRAM = new URL("./upstream.ts", import.meta.url).pathname;

export async function createStage(processes: ProcessTable): Promise<Stage> {
  const network = await createNamespaceNetwork();
  const upstream = network.kubeletAddress;
  const environment = { PATH: process.env["PATH"] ?? "" };
  await new Promise<void>((ready, failed) => {
    const started = processes.start({
      argv: [process.execPath, UPSTREAM_PROGRAM],
      environment: { ...environment, LISTEN_ON: upstream },
      onLine: (line) => (line === "ready" ? ready() : process.stderr.write(`upstream: ${line}\n`)),
    });
    void started.exited.then((status) => failed(new Error(`the upstream ended with ${status}`)));
  });
  return {
    network,
    upstream,
    startPod: async (manifest, managerProgram) => {
      const seen = { manager: 0, envoy: 0 };
      const runner = createPodRunner({
        clock: realClock,
        network,
        processes: watched(processes, (pid, argv) => {
          if (argv.includes("serve")) seen.manager = pid;
          if (argv.includes("--drain-time-s")) seen.envoy = pid;
        }),
        managerProgram,
        preloadLibrary: "",
        imageEnvironment: environment,
        onEvent: () => {},
      });
      const pod = await runner.start(injected(manifest));
      return {
        pod,
        kill: runner.close,
        managerPeakKib: () => peakKibOf(seen.manager),
        waitedMs: () => waitedMsOf(seen.manager) + waitedMsOf(seen.envoy),
      };
    },
  };
}

function watched(processes: ProcessTable, seen: (pid: number, argv: readonly string[]) => void): ProcessTable {
  return {
    ...processes,
    start: (request) => {
      const started = processes.start(request);
      seen(started.pid, request.argv);
      return started;
    },
  };
}

/** @returns `VmHWM` in KiB; 0 for a process that is gone */
function peakKibOf(pid: number): number {
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? "0");
}

/** @returns milliseconds that its main thread was ready to run and did not; 0 for a process that is gone */
function waitedMsOf(pid: number): number {
  return Number(textOf(`/proc/${pid}/task/${pid}/schedstat`).split(" ")[1] ?? "0") / 1e6;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
